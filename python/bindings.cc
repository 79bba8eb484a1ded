// The extension module m4n._core: a thin skin over libm4n. The package m4n beside it makes estimators of it.
#include "data_bindings.h"
#include "m4n/error.h"
#include "m4n/version.h"

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  module.doc() = "The C++ library behind m4n. Use the estimators of the package m4n and m4n.oracle instead.";
  module.attr("__version__") = M4N_VERSION;
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const m4n::Error& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    }
  });
  m4n::python::bind_data(module);
  m4n::python::bind_sequences(module);
  m4n::python::bind_permutations(module);
  m4n::python::bind_model(module);
  m4n::python::bind_fit(module);
  m4n::python::bind_oracles(module);
  m4n::python::bind_structured_oracles(module);
}
