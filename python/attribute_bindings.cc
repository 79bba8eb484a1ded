// Tokens with attributes, in the forms python-crfsuite takes, to a Dataset: for training, or for a model that was
// trained on such. A token is a dict from names to values, or a list of names. A value may be a number (the weight), a
// bool (1 or 0), a str (the attribute "name:value"), a list or set of str (one attribute each), or a dict (its names
// get the prefix "name:"). The attributes are those of a file in CRFsuite's format.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "data/text.h"
#include "features/attributes.h"
#include "m4n/error.h"
#include "structures/chains/data.h"
#include "structures/chains/structure.h"

namespace m4n::python {
namespace {

using namespace m4n::detail;

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
                                       where_, name, nb::inst_name(value).c_str())
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
          fmt::format("{}: found an attribute of type {}; expected a str", where_, nb::inst_name(name).c_str())
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

// Appends one token. `where` names it in messages.
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
                    nb::inst_name(token).c_str())
            .c_str());
  batch.end_token();
}

constexpr std::size_t sequences_per_look = 256;  // at whether Ctrl-C was pressed

// append(batch) for every sequence.
template <class Append>
void for_each_sequence(const nb::list& items, Append&& append) {
  AttributeBatch batch;
  std::size_t i = 0;
  for (const nb::handle sequence : items) {
    if (i % sequences_per_look == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    batch.clear();
    std::size_t t = 0;
    for (const nb::handle token : nb::iter(sequence))
      append_token(token, fmt::format("sequence {}, token {}", i, t++), batch);
    append(batch);
    ++i;
  }
}

Data attribute_sequences(const nb::list& items, const std::vector<std::size_t>& lengths, const IntVector& label,
                         std::vector<std::string> names, std::uint64_t min_count, int hash_bits) {
  auto input = std::make_shared<SequenceInput>();
  input->format = SequenceFormat::crfsuite;
  Data out;
  TrainingRows rows({min_count, hash_bits});
  for_each_sequence(items, [&](const AttributeBatch& batch) { rows.add(batch); });
  input->dictionary = rows.finish("the sequences", out.value.x);
  out.value.label = to_vector(label);
  out.value.class_names = std::move(names);
  out.value.feature_rows = out.value.labels = grouped(lengths);
  out.value.input = std::move(input);
  return out;
}

// How a model reads tokens with attributes; null: it was trained on rows of numbers.
const SequenceInput* input_of_model(const Model& model) {
  const auto* const part = dynamic_cast<const ChainPart*>(model.part());
  return part != nullptr ? part->input.get() : nullptr;
}

// Rows of tokens for a trained model.
Data encoded(const Model& model, const nb::list& items, const std::vector<std::size_t>& lengths) {
  const SequenceInput* const input = input_of_model(model);
  if (input == nullptr || input->dictionary.columns() == 0)
    throw nb::type_error("the model was trained on rows of numbers; give one matrix for every sequence");
  if (input->format != SequenceFormat::crfsuite)
    throw nb::type_error(
        "the model makes its attributes from columns of text by a template; use the command m4n predict");
  SparseMatrix rows;
  AttributeDictionary::Scratch scratch;
  for_each_sequence(items, [&](const AttributeBatch& batch) { input->dictionary.append_rows(batch, scratch, rows); });
  rows.cols = model.d();
  Data out;
  out.value.x = std::move(rows);
  out.value.feature_rows = grouped(lengths);
  return out;
}

std::vector<std::string> attribute_names(const Model& model) {
  std::vector<std::string> out;
  const SequenceInput* const input = input_of_model(model);
  if (input == nullptr || input->dictionary.hash_bits() > 0) return out;
  for (std::size_t j = 0; j < model.d(); ++j) out.push_back(feature_name(*input, j));
  return out;
}

// Of every sequence the best labellings with their scores, fewer where there are fewer: (scores, labels of all).
nb::list k_best(const Model& model, const Data& examples, std::size_t count) {
  const Dataset& data = examples.get();
  ChainTagger tagger(chain_predictor(model));
  nb::list out;
  for (std::size_t i = 0; i < data.feature_rows.count(); ++i) {
    const std::size_t first = data.feature_rows.begin(i), length = data.feature_rows.end(i) - first;
    if (!tagger.read(view(data.x), first, length))
      throw Error("the scores of sequence " + std::to_string(i + 1) + " are beyond what can be computed with");
    const KBest& best = tagger.best(count);
    nb::list own;
    for (std::size_t rank = 0; rank < best.size(); ++rank) {
      const LabelView path = best.path(rank);
      own.append(nb::make_tuple(best.score(rank), std::vector<std::int32_t>(path.begin(), path.end())));
    }
    out.append(own);
  }
  return out;
}

}  // namespace

void bind_attributes(nb::module_& module) {
  module.def("attribute_sequences", &attribute_sequences, nb::arg("items"), nb::arg("lengths"), nb::arg("label"),
             nb::arg("names"), nb::arg("min_count"), nb::arg("hash_bits"));
  module.def("encoded", &encoded, nb::arg("model"), nb::arg("items"), nb::arg("lengths"));
  module.def("k_best", &k_best, nb::arg("model"), nb::arg("examples"), nb::arg("count"),
             "Of every sequence the best labellings, as (score, labels).");
  module.def("attribute_names", &attribute_names, nb::arg("model"));
  module.def(
      "takes_attributes",
      [](const Model& model) {
        const SequenceInput* const input = input_of_model(model);
        return input != nullptr && input->format == SequenceFormat::crfsuite;
      },
      nb::arg("model"));
  module.def(
      "hash_bits",
      [](const Model& model) {
        const SequenceInput* const input = input_of_model(model);
        return input != nullptr ? input->dictionary.hash_bits() : 0;
      },
      nb::arg("model"));
}

}  // namespace m4n::python
