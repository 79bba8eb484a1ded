// What goes wrong is said once, in words a user can act on: where (file, line, column), what was found, what was
// expected, what to do. The library throws; the command line turns Error into exit code 1 and UsageError into 2.
#pragma once
#include <stdexcept>
#include <string>

namespace m4n {

// Bad input, bad data, failed input or output.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller asked for something that does not exist or does not go together.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace m4n
