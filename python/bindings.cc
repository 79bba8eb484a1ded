// The extension module m4n._core: a thin skin over libm4n. The package m4n beside it makes estimators of it.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "data_bindings.h"
#include "m4n/error.h"
#include "m4n/simd.h"
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
  m4n::set_simd_from_environment();
  module.def("simd_names", &m4n::simd_names, "The instruction sets that this machine supports, the best first.");
  module.def("simd", &m4n::simd, "The instruction set in use.");
  module.def(
      "set_simd", [](const std::string& name) { m4n::set_simd(name); }, nb::arg("name"),
      "Use another instruction set, or 'auto', in the whole process; M4N_SIMD does so, too.");
  m4n::python::bind_data(module);
  m4n::python::bind_sequences(module);
  m4n::python::bind_permutations(module);
  m4n::python::bind_model(module);
  m4n::python::bind_fit(module);
  m4n::python::bind_oracles(module);
  m4n::python::bind_structured_oracles(module);
}
