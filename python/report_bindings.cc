// What there is to look at: the page of a model (reports/model_page.h), and the log of its training.
#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "core/atomic_file.h"
#include "core/checksum.h"
#include "data/table.h"
#include "interruptible.h"
#include "m4n/model.h"
#include "m4n/read.h"
#include "reports/model_page.h"

namespace m4n::python {
namespace {

template <class Number>
NewArray<Number> column(const std::vector<Progress>& log, Number Progress::*member) {
  std::vector<Number> out;
  for (const Progress& step : log) out.push_back(step.*member);
  return to_numpy(std::move(out), {log.size()});
}

// The numbers of a certificate in the order of log_columns().
using Step = std::tuple<int, double, double, double, double>;

std::vector<Progress> progress_of(const std::vector<Step>& log) {
  std::vector<Progress> out(log.size());
  for (std::size_t i = 0; i < log.size(); ++i)
    std::tie(out[i].epoch, out[i].seconds, out[i].primal, out[i].dual, out[i].relative_gap) = log[i];
  return out;
}

std::string checksum_of(const Model& model) {
  const std::string bytes = model.to_bytes();
  const std::span<const char> own(bytes.data(), bytes.size() - detail::model_trailer);
  return fmt::format("CRC-64/XZ {:016x}", detail::crc64(own));
}

// Labels are the model's, then those that it has never seen, by the names in `unseen`.
Examples labelled(const Model& model, Dataset data, const std::vector<std::string>& unseen,
                  std::vector<std::string> ids) {
  Examples out;
  out.data = std::move(data);
  out.data.class_names = out.names = model.classes();
  out.names.insert(out.names.end(), unseen.begin(), unseen.end());
  out.truth = out.data.label;
  if (!unseen.empty()) out.data.label = detail::known_labels(out.truth, model.k());
  out.ids = std::move(ids);
  return out;
}

// `names`: of the model and of the data, as the page shows them.
std::string page(const Model& model, Data* data, const std::vector<std::string>& unseen, std::vector<std::string> ids,
                 std::pair<std::string, std::string> names, std::string maker, const std::vector<Step>& log,
                 bool examples, bool markdown, std::uint64_t seed, unsigned threads) {
  std::optional<Examples> judged;
  if (data != nullptr) judged = labelled(model, data->take(), unseen, std::move(ids));
  detail::PageRequest request;
  std::tie(request.model, request.data) = std::move(names);
  request.origin = {{"made by", std::move(maker)}, {"model", checksum_of(model)}};
  request.log = progress_of(log);
  request.examples = examples;
  request.seed = seed;
  return run_interruptibly([&](StopFlag& flag) {
    request.context = with_threads(threads);
    request.context.cancelled = [&flag] { return flag.raised(); };
    const detail::Page page = detail::model_page(model, judged ? &*judged : nullptr, request);
    return markdown ? detail::page_markdown(page) : detail::page_html(page);
  });
}

}  // namespace

nb::dict log_columns(const std::vector<Progress>& log) {
  nb::dict out;
  out["epoch"] = column(log, &Progress::epoch);
  out["seconds"] = column(log, &Progress::seconds);
  out["primal"] = column(log, &Progress::primal);
  out["dual"] = column(log, &Progress::dual);
  out["relative_gap"] = column(log, &Progress::relative_gap);
  return out;
}

void bind_report(nb::module_& module) {
  module.def("page", &page, nb::arg("model"), nb::arg("examples").none(), nb::arg("unseen"), nb::arg("ids"),
             nb::arg("names"), nb::arg("maker"), nb::arg("log"), nb::arg("show_examples"), nb::arg("markdown"),
             nb::arg("seed"), nb::arg("threads"),
             "The page of a model, as HTML or Markdown. Labels of examples count the model's, then those unseen.");
  module.def(
      "read_log", [](const std::string& path) { return log_columns(detail::read_training_log(path)); }, nb::arg("path"),
      "What `m4n train --log` wrote: a column by quantity, an entry by certificate.");
  module.def(
      "write_file",
      [](const nb::bytes& path, const std::string& text) {
        write_to(path, [&](const std::string& name) { detail::write_file_atomically(name, text); });
      },
      nb::arg("path"), nb::arg("text"), "The file is there whole or not at all.");
}

}  // namespace m4n::python
