// The extension module m4n._core: a thin skin over libm4n. The package m4n beside it makes estimators of it.
#include "bindings.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "m4n/simd.h"
#include "m4n/version.h"

namespace m4n::python {
namespace {

std::string with_underscores(std::string_view option) {
  std::string out(option);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

// A message may quote bytes of a file that are no text.
nb::object readable(const std::string& text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

// As m4n.Error; m4n/_options.py gives options the names that parameters have.
void raise(const Error& error) {
  const nb::object type = nb::module_::import_("m4n._errors").attr("Error");
  nb::object raised = type(readable(error.message().text(with_underscores)));
  raised.attr("pieces") = pieces_of(error.message());
  raised.attr("option") = error.details().option;
  raised.attr("value") = readable(error.details().value);
  raised.attr("expected") = error.details().expected;
  raised.attr("remedy") = error.details().remedy;
  PyErr_SetObject(type.ptr(), raised.ptr());
}

}  // namespace

void raise_os_error(const Error& error) {
  PyErr_SetObject(PyExc_OSError, readable(error.what()).ptr());
  throw nb::python_error();
}

nb::list pieces_of(const Message& message) {
  nb::list out;
  for (const auto& [is_option, text, is_remedy] : message.pieces())
    out.append(nb::make_tuple(is_option, readable(text), is_remedy));
  return out;
}

}  // namespace m4n::python

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  using namespace m4n::python;
  module.doc() = "The C++ library behind m4n. Use the estimators of the package m4n and m4n.oracle instead.";
  module.attr("__version__") = M4N_VERSION;
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const m4n::Error& error) {
      raise(error);
    }
  });
  m4n::set_simd_from_environment();
  module.def("simd_names", &m4n::simd_names, "The instruction sets that this machine supports, the best first.");
  module.def("simd", &m4n::simd, "The instruction set in use.");
  module.def(
      "set_simd", [](const std::string& name) { m4n::set_simd(name); }, nb::arg("name"),
      "Use another instruction set, or 'auto', in the whole process; M4N_SIMD does so, too.");
  bind_data(module);
  bind_attributes(module);
  bind_model(module);
  bind_fit(module);
  bind_report(module);
  bind_parts(module);
  bind_oracles(module);
  bind_structured_oracles(module);
  bind_class_batches(module);
  bind_structured_batches(module);
}
