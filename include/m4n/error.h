// What goes wrong is said once, in words a user can act on: where (file, line, column), what was found, what was
// expected, what to do. The library throws; the command line turns Error into exit code 1 and UsageError into 2.
//
// A message knows which of its words are names of options, so that every face of the library can call them its own way:
// the command line says --lambda, Python says lam.
#pragma once
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "m4n/visibility.h"

namespace m4n {

// Text in which the names of options are marked.
class M4N_API Message {
 public:
  // How a face of the library calls an option; given is its name without dashes.
  using OptionName = std::function<std::string(std::string_view)>;

  Message() = default;
  Message(std::string text) { add(std::move(text)); }        // NOLINT(google-explicit-constructor): a text is a message
  Message(const char* text) : Message(std::string(text)) {}  // NOLINT(google-explicit-constructor)

  Message& add(std::string text);
  Message& add_option(std::string name);
  Message& add(const Message& other);

  std::string text(const OptionName& name_of) const;
  std::string text() const;  // as the command line says it: --name

  // What is added from here on says what to do about it.
  Message& begin_remedy();

  struct Piece {
    bool option;
    std::string text;
    bool remedy = false;
  };
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  void add_piece(bool option, std::string text);
  std::vector<Piece> pieces_;
  bool in_remedy_ = false;
};

// Bad input, bad data, failed input or output.
class M4N_API Error : public std::runtime_error {
 public:
  // What is known apart from the words; empty where there is nothing to say.
  struct Details {
    std::string option;    // that has a wrong value: its name without dashes
    std::string value;     // as it was found
    std::string expected;  // instead
    std::string remedy;    // what to do; the end of the message, unless given
  };

  explicit Error(Message message, Details details = {});

  const Message& message() const { return message_; }
  const Details& details() const { return details_; }

 private:
  Message message_;
  Details details_;
};

// The caller asked for something that does not exist or does not go together.
class M4N_API UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace m4n
