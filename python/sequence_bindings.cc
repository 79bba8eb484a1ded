// Sequences of tokens with attributes: to a Dataset, and to labels by a model.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "arrays.h"
#include "attributes.h"
#include "core/parallel.h"
#include "data_bindings.h"
#include "m4n/error.h"
#include "m4n/model.h"
#include "structures/chains/predictor.h"
#include "structures/chains/input.h"

namespace m4n::python {
namespace {

constexpr std::size_t sequences_a_look = 256;  // at whether Ctrl-C was pressed

// append(batch) for every sequence.
template <class Append>
void for_each_sequence(const nb::list& items, Append&& append) {
  AttributeBatch batch;
  std::size_t i = 0;
  for (const nb::handle sequence : items) {
    if (i % sequences_a_look == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    batch.clear();
    std::size_t t = 0;
    for (const nb::handle token : nb::iter(sequence))
      append_token(token, fmt::format("sequence {}, token {}", i, t++), batch);
    append(batch);
    ++i;
  }
}

// The values of attributes that are all ones need not be kept.
void drop_ones(SparseMatrix& x) {
  if (std::all_of(x.value.begin(), x.value.end(), [](double value) { return value == 1; }))
    x.value = std::vector<double>();
}

// The same as a file in CRFsuite's format gives.
Data attribute_sequences(const nb::list& items, const std::vector<std::size_t>& lengths, const IntVector& label,
                         std::vector<std::string> class_names, std::uint64_t min_count, int hash_bits) {
  SequenceInput input;
  input.format = Format::crfsuite;
  SparseMatrix rows;
  if (hash_bits > 0) {
    input.dictionary = AttributeDictionary::hashing(hash_bits);
    AttributeDictionary::Scratch scratch;
    for_each_sequence(items, [&](const AttributeBatch& batch) { input.dictionary.append_rows(batch, scratch, rows); });
  } else {
    AttributeCounter counter;
    for_each_sequence(items, [&](const AttributeBatch& batch) { counter.add(batch); });
    input.dictionary = counter.finish(min_count, rows);
  }
  if (input.dictionary.columns() == 0)
    throw Error(fmt::format("no attribute occurs in {} tokens or more; lower --min-count", min_count));
  drop_ones(rows);
  Data out;
  out.value.x = std::move(rows);
  out.value.label = to_vector(label);
  out.value.class_names = std::move(class_names);
  out.value.feature_rows = out.value.labels = grouped(lengths);
  out.value.input = std::make_shared<const SequenceInput>(std::move(input));
  return out;
}

// Rows of tokens for a trained model.
SparseMatrix encoded(const Model& model, const nb::list& items) {
  if (!model.input || model.input->dictionary.columns() == 0)
    throw nb::type_error("the model was trained on rows of numbers; give one matrix a sequence");
  if (model.input->format != Format::crfsuite)
    throw nb::type_error(
        "the model makes its attributes from columns of text by a template; use the command m4n predict");
  SparseMatrix rows;
  AttributeDictionary::Scratch scratch;
  for_each_sequence(items,
                    [&](const AttributeBatch& batch) { model.input->dictionary.append_rows(batch, scratch, rows); });
  rows.cols = model.d;
  return rows;
}

// The rows of all sequences: a tuple is a CSR matrix of all of them, a list one matrix each, or with
// `attributes` tokens that have them.
Features rows_of(const Model& model, const nb::object& x, const std::vector<std::size_t>& lengths, bool attributes) {
  if (attributes) return encoded(model, nb::borrow<nb::list>(x));
  if (model.input && model.input->format == Format::crfsuite)
    throw nb::type_error("the model was trained on tokens with attributes; give a dict or a list of str a token");
  if (nb::isinstance<nb::list>(x)) return stacked(nb::borrow<nb::list>(x), lengths, "sequence");
  return without_gil(feature_source(x));
}

NewArray<std::int32_t> predict(const Model& model, const nb::object& x, const std::vector<std::size_t>& lengths,
                               bool attributes, unsigned threads) {
  const Features rows = rows_of(model, x, lengths, attributes);
  const Groups groups = grouped(lengths);
  std::vector<std::int32_t> label;
  {
    const nb::gil_scoped_release released;
    Context context;
    context.threads = threads;
    label = model.predict(view(rows), groups, context);
  }
  const std::size_t size = label.size();
  return to_numpy(std::move(label), {size});
}

NewArray<double> marginals(const Model& model, const nb::object& x, const std::vector<std::size_t>& lengths,
                           bool attributes, unsigned threads) {
  if (model.surrogate != SurrogateKind::crf) throw UsageError("only --surrogate crf defines probabilities");
  const Features rows = rows_of(model, x, lengths, attributes);
  if (cols(rows) != model.d)
    throw Error(fmt::format("the data have {} features, the model was trained on {}", cols(rows), model.d));
  const Groups groups = grouped(lengths);
  const std::size_t k = model.k(), tokens = groups.begin(groups.count());
  std::vector<double> out(tokens * k);
  {
    const nb::gil_scoped_release released;
    const ChainPredictor shared(model);
    parallel_chunks(groups.count(), 16, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      ChainTagger tagger(shared);
      for (std::size_t i = first; i < last; ++i) {
        const std::size_t begin = groups.begin(i), length = groups.end(i) - begin;
        if (!tagger.read(view(rows), begin, length))
          throw Error(fmt::format("sequence {} has scores beyond what can be computed with", i));
        const PaddedRows<const double> p = tagger.marginals();
        for (std::size_t t = 0; t < length; ++t) std::copy_n(p.row(t), k, out.data() + (begin + t) * k);
      }
    });
  }
  return to_numpy(std::move(out), {tokens, k});
}

}  // namespace

void bind_sequences(nb::module_& module) {
  module.def("attribute_sequences", &attribute_sequences, nb::arg("items"), nb::arg("lengths"), nb::arg("label"),
             nb::arg("class_names"), nb::arg("min_count"), nb::arg("hash_bits"));
  module.def("predict_sequences", &predict, nb::arg("model"), nb::arg("x"), nb::arg("lengths"), nb::arg("attributes"),
             nb::arg("threads"));
  module.def("sequence_marginals", &marginals, nb::arg("model"), nb::arg("x"), nb::arg("lengths"),
             nb::arg("attributes"), nb::arg("threads"));
}

}  // namespace m4n::python
