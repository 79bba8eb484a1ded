#include "ocr_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/kernels.h"
#include "data/input.h"
#include "m4n/error.h"

namespace m4n::detail::bench {
namespace {

void zero(PaddedRows<double> rows) { std::fill_n(rows.data(), rows.rows() * rows.stride(), 0.0); }
std::span<double> all(PaddedRows<double> rows) { return {rows.data(), rows.rows() * rows.stride()}; }

}  // namespace

// Columns, parted by tabs: id, letter, next id (-1 at the end of a word), word, position, fold, 128 pixels.
std::vector<OcrWord> read_ocr_words(const std::filesystem::path& path) {
  Input input = Input::open(path.string());
  const std::string text = read_all(input, 100'000'000);
  std::vector<OcrWord> words(1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::vector<std::string> cell(1);
    for (std::size_t at = begin; at < end; ++at)
      if (text[at] == '\t')
        cell.emplace_back();
      else
        cell.back() += text[at];
    begin = end + 1;
    if (cell.size() < 6 + ocr_pixels) throw Error(fmt::format("{}: a line has {} columns", path.string(), cell.size()));
    OcrWord& word = words.back();
    word.label.push_back(cell[1][0] - 'a');
    word.pixels.emplace_back();
    for (std::uint32_t p = 0; p < ocr_pixels; ++p)
      if (cell[6 + p] == "1") word.pixels.back().push_back(p);
    if (cell[2] == "-1") words.emplace_back();
  }
  words.pop_back();
  return words;
}

Sentences ocr_sentences(std::span<const OcrWord> words) {
  Sentences out;
  out.name = "OCR words";
  out.labels = ocr_labels;
  out.x.cols = ocr_pixels;
  std::vector<std::size_t> offsets{0};
  for (const OcrWord& word : words) {
    for (std::size_t m = 0; m < word.length(); ++m) {
      out.x.column.insert(out.x.column.end(), word.pixels[m].begin(), word.pixels[m].end());
      out.x.row_start.push_back(out.x.column.size());
      out.label.push_back(word.label[m]);
    }
    offsets.push_back(out.label.size());
  }
  out.x.rows = out.label.size();
  out.tokens = Groups(std::move(offsets));
  out.share.assign(words.size(), 1 / static_cast<double>(words.size()));
  return out;
}

OcrTrainer::OcrTrainer(const std::vector<OcrWord>& words, double lambda)
    : words_(&words), scale_(1 / (lambda * static_cast<double>(words.size()))), ones_(ocr_pixels, 1.0) {
  zero(weight_.shape(ocr_pixels + 1, ocr_labels));
  zero(table_.shape(ocr_labels, ocr_labels));
  gradient_.shape(ocr_pixels + 1, ocr_labels);
  shift_table_.shape(ocr_labels, ocr_labels);
  for (const OcrWord& word : words) {  // mu_i = phi(y_i)
    Block& block = blocks_.emplace_back();
    zero(block.unary.shape(word.length(), ocr_labels));
    zero(block.transitions.shape(ocr_labels, ocr_labels));
    for (std::size_t m = 0; m < word.length(); ++m) {
      const auto label = static_cast<std::size_t>(word.label[m]);
      block.unary.view()(m, label) = 1;
      if (m > 0) block.transitions.view()(static_cast<std::size_t>(word.label[m - 1]), label) += 1;
    }
  }
}

ChainScores OcrTrainer::scores(std::size_t i) {
  const OcrWord& word = (*words_)[i];
  const PaddedRows<double> unary = unary_.shape(word.length(), ocr_labels);
  for (std::size_t m = 0; m < word.length(); ++m)
    kernels::sparse_scores(word.pixels[m], std::span<const double>(ones_).first(word.pixels[m].size()),
                           weight_.view().data(), weight_.view().row(ocr_pixels), unary.padded_row(m));
  transitions_.prepare(std::as_const(table_).view(), {}, {});
  return {unary, &transitions_};
}

void OcrTrainer::step(std::size_t i, const GameAnswer& answer) {
  const OcrWord& word = (*words_)[i];
  Block& block = blocks_[i];
  // shift = answer - mu_i
  const PaddedRows<double> shift = shift_.shape(word.length(), ocr_labels), shift_table = shift_table_.view();
  for (std::size_t e = 0; e < all(shift).size(); ++e) all(shift)[e] = -block.unary.view().data()[e];
  for (std::size_t e = 0; e < all(shift_table).size(); ++e) all(shift_table)[e] = -block.transitions.view().data()[e];
  for (std::size_t j = 0; j < answer.size(); ++j) {
    const LabelView y = answer.labels(j);
    for (std::size_t m = 0; m < word.length(); ++m) {
      const auto label = static_cast<std::size_t>(y[m]);
      shift(m, label) += answer.weight[j];
      if (m > 0) shift_table(static_cast<std::size_t>(y[m - 1]), label) += answer.weight[j];
    }
  }
  const PaddedRows<double> gradient = gradient_.view();
  zero(gradient);
  const PaddedRows<const double> unary = std::as_const(unary_).view();
  double gain = answer.risk - block.risk;
  for (std::size_t m = 0; m < word.length(); ++m) {
    kernels::sparse_update(word.pixels[m], std::span<const double>(ones_).first(word.pixels[m].size()),
                           shift.padded_row(m), 1, gradient.data(), gradient.row(ocr_pixels));
    for (std::size_t k = 0; k < ocr_labels; ++k) gain += unary(m, k) * shift(m, k);
  }
  gain += kernels::dot(all(table_.view()), all(shift_table));
  const double curvature =
      scale_ * (kernels::dot(all(gradient), all(gradient)) + kernels::dot(all(shift_table), all(shift_table)));
  if (!(gain > 0 && curvature > 0)) return;
  const double share = std::min(1.0, gain / curvature);
  const auto move = [](std::span<double> out, std::span<const double> direction, double factor) {
    for (std::size_t e = 0; e < out.size(); ++e) out[e] += factor * direction[e];
  };
  move(all(weight_.view()), all(gradient), -share * scale_);
  move(all(table_.view()), all(shift_table), -share * scale_);
  move(all(block.unary.view()), all(shift), share);
  move(all(block.transitions.view()), all(shift_table), share);
  block.risk += share * (answer.risk - block.risk);
}

}  // namespace m4n::detail::bench
