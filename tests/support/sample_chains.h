// Small models of sequences, one per way of reading them, made as in sample_models.h. sample_chain() is
// tests/golden/chain_v1.m4n and must never change.
#pragma once
#include <initializer_list>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "structures/chains/data.h"
#include "support/flat_model.h"

namespace m4n::detail::test {

// Each name once, so that they are numbered by their bytes.
inline AttributeDictionary dictionary_of(std::initializer_list<std::string_view> names) {
  AttributeBatch batch;
  for (const std::string_view name : names) {
    batch.bytes().append(name);
    batch.end_attribute();
  }
  batch.end_token();
  AttributeCounter counter;
  counter.add(batch);
  SparseMatrix unused;
  return counter.finish(1, unused);
}

inline void set_input(FlatModel& model, SequenceInput input) {
  model.input = std::make_shared<const SequenceInput>(std::move(input));
}

// What all of them have, for k = 2: `d` features with weights that are all different.
inline FlatModel chain_of_two(std::size_t d, bool sparse) {
  FlatModel model;
  model.task = "sequence";
  model.decode = Decoder::viterbi;
  model.loss_name = "hamming";
  model.cost = {0, 1, 1, 0};
  model.classes = {"a", "b"};
  model.d = d;
  model.sparse = sparse;
  std::vector<double> w;
  for (std::size_t e = 0; e < 2 * d; ++e) w.push_back(static_cast<double>(e) - 1.5);
  model.chain.features = std::move(w);
  model.chain.bias = {0.25, -0.5};
  model.chain.transitions = {1, -1, 0.5, 2};
  model.chain.start = {3, -3};
  model.chain.end = {-0.125, 0.75};
  model.solver = "atoms";
  model.n = 4;
  model.parts = 9;
  return model;
}

// CoNLL columns, a dictionary with bytes that are no UTF-8, weights in single precision, costs that are not symmetric.
inline FlatModel sample_chain() {
  FlatModel model;
  model.task = "sequence";
  model.surrogate = SurrogateKind::crf;
  model.decode = Decoder::expected;
  model.loss_name = "matrix";
  model.cost = {0, 1, 2.5, 1, 0, 1, 10, 5, -0.5};
  model.classes = {"B-NP", "I-NP", "\xff O"};
  model.d = 4;
  model.sparse = true;
  model.chain.features = std::vector<float>{0.1F, -0.0F, 1e-40F, 3.4028235e38F, -2.5F, 7, 0.3F, -0.7F, 1, 2, 3, 4};
  model.chain.bias = {1.0 / 3, -2, 5e-324};
  model.chain.transitions = {0.5, -0.25, 1e300, 2, -0.0, 4, 5, 6, -7.1};
  model.chain.start = {1, 2, -3.3};
  model.chain.end = {-1e-7, 0, 12345678.9};
  SequenceInput input;
  input.format = SequenceFormat::conll;
  input.attributes = TextTemplate::parse("# two\nU0:%x[0,0]\nU1:%l[-1,1]/%s[0,0,2]\nB\n", "sample");
  input.feature_columns = 2;
  input.dictionary = dictionary_of({"U0:the", "U0:\xff\x01", "U1:_B-1/he", "U1:nn/\xc3\xb6t"});
  set_input(model, std::move(input));
  model.solver = "eg";
  model.lambda = 1.0 / 512;
  model.tol = 1e-4;
  model.n = 7;
  model.parts = 41;
  model.epochs = 12;
  model.oracle_calls = 84;
  model.seed = 3;
  model.train_loss = 0.0123456789;
  model.norm_squared = 17.25;
  model.certificate = {0.75, 0.7499, false};
  model.interrupted = true;
  return model;
}

// CRFsuite's attributes, hashed.
inline FlatModel sample_hashed_chain() {
  FlatModel model = chain_of_two(4, true);
  model.decode = Decoder::adversary;
  SequenceInput input;
  input.format = SequenceFormat::crfsuite;
  input.dictionary = AttributeDictionary::hashing(2);
  set_input(model, std::move(input));
  return model;
}

// Letters; from a file with folds; without a bias.
inline FlatModel sample_letters() {
  FlatModel model = chain_of_two(3, false);
  model.surrogate = SurrogateKind::m3n;
  model.bias = false;
  model.chain.bias.clear();
  model.fold_column = "fold";
  SequenceInput input;
  input.format = SequenceFormat::ocr;
  set_input(model, std::move(input));
  return model;
}

// Letters with the products of their pixels.
inline FlatModel sample_picture_chain() {
  SequenceInput input;
  input.format = SequenceFormat::ocr;
  input.grid = PixelGrid{2, 2};
  FlatModel model = chain_of_two(input.grid->columns(), true);
  set_input(model, std::move(input));
  return model;
}

// Rows that came from a program; and nothing but what must be there.
inline FlatModel sample_chain_of_rows() {
  FlatModel model = chain_of_two(2, false);
  model.feature_names = {"x", "y"};
  model.certificate = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), false};
  return model;
}
inline FlatModel sample_smallest_chain() {
  FlatModel model = chain_of_two(0, false);
  model.bias = false;
  model.chain.bias.clear();
  model.solver.clear();
  model.n = model.parts = 0;
  return model;
}

}  // namespace m4n::detail::test
