// Tokens of Python as attributes of the library, in the forms python-crfsuite takes: a dict from names to values, or a
// list of names. A value may be a number (the weight), a bool (1 or 0), a str (the attribute "name:value"), a list or
// set of str (one attribute each), or a dict (its names get the prefix "name:").
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "features/attribute_batch.h"

namespace m4n::python {

namespace nb = nanobind;

// Appends one token. `where` names it in messages.
void append_token(nb::handle token, const std::string& where, AttributeBatch& batch);

}  // namespace m4n::python
