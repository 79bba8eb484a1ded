// The attributes of a run of tokens (a sentence, as a rule): byte strings with a value each, one after another in one
// buffer that is used again and again.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace m4n::detail {

class AttributeBatch {
 public:
  std::size_t tokens() const { return token_end_.size(); }
  std::size_t attributes() const { return end_.size(); }
  // The attributes of token t are begin(t) .. end(t) - 1.
  std::size_t begin(std::size_t token) const { return token == 0 ? 0 : token_end_[token - 1]; }
  std::size_t end(std::size_t token) const { return token_end_[token]; }
  std::string_view name(std::size_t attribute) const {
    const std::size_t start = attribute == 0 ? 0 : end_[attribute - 1];
    return {bytes_.data() + start, end_[attribute] - start};
  }
  double value(std::size_t attribute) const { return value_.empty() ? 1 : value_[attribute]; }

  // Writing: append the bytes of a name to `bytes`, then end the attribute; after the last one, the token.
  std::string& bytes() { return bytes_; }
  void end_attribute() {
    if (!value_.empty()) value_.push_back(1);
    end_.push_back(bytes_.size());
  }
  void end_attribute(double value) {
    if (value != 1 && value_.empty()) value_.assign(end_.size(), 1);
    if (value != 1 || !value_.empty()) value_.push_back(value);
    end_.push_back(bytes_.size());
  }
  void end_token() { token_end_.push_back(end_.size()); }
  // Forgets the attributes and keeps the memory.
  void clear() {
    bytes_.clear();
    end_.clear();
    value_.clear();
    token_end_.clear();
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> end_;
  std::vector<double> value_;  // empty: all are 1
  std::vector<std::size_t> token_end_;
};

}  // namespace m4n::detail
