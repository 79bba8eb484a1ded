#include "attributes.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "data/text.h"
#include "m4n/error.h"

namespace m4n::python {
namespace {

class TokenWriter {
 public:
  TokenWriter(const std::string& where, AttributeBatch& batch) : where_(where), batch_(batch) {}

  void add_all(nb::handle attributes, std::string& prefix) {
    const std::size_t length = prefix.size();
    for (const auto [key, value] : nb::borrow<nb::dict>(attributes)) {
      prefix.append(text(key));
      add(prefix, value);
      prefix.resize(length);
    }
  }
  void add_names(nb::handle names, const std::string& prefix) {
    for (const nb::handle name : nb::iter(names)) {
      batch_.bytes().append(prefix).append(text(name));
      batch_.end_attribute();
    }
  }

 private:
  static constexpr int deepest = 100;

  void add(std::string& name, nb::handle value) {
    PyObject* const v = value.ptr();
    if (name.empty()) throw Error(where_ + ": an attribute has an empty name");
    if (PyUnicode_Check(v)) {
      batch_.bytes().append(name).append(":").append(text(value));
      batch_.end_attribute();
    } else if (PyFloat_Check(v) || PyLong_Check(v)) {  // a bool is a whole number, too
      number(name, PyFloat_AsDouble(v));
    } else if (PyDict_Check(v)) {
      if (++depth_ > deepest) throw Error(fmt::format("{}: dicts are nested more than {} deep", where_, deepest));
      name.push_back(':');
      add_all(value, name);
      --depth_;
    } else if (PyList_Check(v) || PyTuple_Check(v) || PyAnySet_Check(v)) {
      add_names(value, name + ":");
    } else if (PyNumber_Check(v)) {  // numbers of numpy
      number(name, PyFloat_AsDouble(v));
    } else {
      throw nb::type_error(fmt::format("{}: attribute '{}' has a value of type {}; expected a number, a bool, a str, "
                                       "a list of str or a dict",
                                       where_, name, Py_TYPE(v)->tp_name)
                               .c_str());
    }
  }
  void number(const std::string& name, double value) {
    if (value == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw Error(fmt::format("{}: attribute '{}' has a value that is no number of at most {} in size", where_, name,
                              largest_value));
    }
    if (!(std::abs(value) <= largest_value))
      throw Error(fmt::format("{}: attribute '{}' has the value {}; expected a number of at most {} in size", where_,
                              name, value, largest_value));
    batch_.bytes().append(name);
    batch_.end_attribute(value);
  }
  std::string_view text(nb::handle name) const {
    Py_ssize_t size = 0;
    if (!PyUnicode_Check(name.ptr()))
      throw nb::type_error(
          fmt::format("{}: found an attribute of type {}; expected a str", where_, Py_TYPE(name.ptr())->tp_name)
              .c_str());
    const char* const bytes = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
    if (bytes == nullptr) {
      PyErr_Clear();
      throw Error(where_ + ": an attribute is no text of Unicode, it holds half a pair of surrogates");
    }
    return {bytes, static_cast<std::size_t>(size)};
  }

  const std::string& where_;
  AttributeBatch& batch_;
  int depth_ = 0;  // of dicts in dicts
};

}  // namespace

void append_token(nb::handle token, const std::string& where, AttributeBatch& batch) {
  std::string prefix;
  PyObject* const t = token.ptr();
  if (PyDict_Check(t))
    TokenWriter(where, batch).add_all(token, prefix);
  else if (PyList_Check(t) || PyTuple_Check(t) || PyAnySet_Check(t))
    TokenWriter(where, batch).add_names(token, prefix);
  else
    throw nb::type_error(
        fmt::format("{}: found a token of type {}; expected a dict of attributes or a list of their names", where,
                    Py_TYPE(t)->tp_name)
            .c_str());
  batch.end_token();
}

}  // namespace m4n::python
