// The OCR words, and an M4N for them that is trained just well enough to give the oracle the scores it meets.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/views.h"
#include "sentences.h"
#include "structures/chains/oracles.h"
#include "structures/chains/space.h"

namespace m4n::detail::bench {

struct OcrWord {
  std::vector<std::int32_t> label;                 // one per letter
  std::vector<std::vector<std::uint32_t>> pixels;  // those that are set, for every letter
  std::size_t length() const { return label.size(); }
};

inline constexpr std::size_t ocr_labels = 26, ocr_pixels = 128;

std::vector<OcrWord> read_ocr_words(const std::filesystem::path& path);

// The pixels that are set as attributes.
Sentences ocr_sentences(std::span<const OcrWord> words);

// Block-coordinate Frank-Wolfe with exact oracle answers and line search on the dual of
//   1/n sum_i S(v_i, y_i) + (lambda/2) |w|^2,   v = (weights of pixels and bias, transitions), loss 0-1 averaged.
class OcrTrainer {
 public:
  OcrTrainer(const std::vector<OcrWord>& words, double lambda);

  // The scores of word i at the present weights, valid until the next call.
  ChainScores scores(std::size_t i);
  // Moves the dual variable of word i towards the oracle's answer at those scores.
  void step(std::size_t i, const GameAnswer& answer);

 private:
  struct Block {
    PaddedMatrix<double> unary, transitions;  // mu_i
    double risk = 0;                          // a lower bound of h(mu_i)
  };
  const std::vector<OcrWord>* words_;
  double scale_;  // 1 / (lambda n)
  PaddedMatrix<double> weight_, table_, unary_, shift_, shift_table_, gradient_;
  Transitions transitions_;
  std::vector<Block> blocks_;
  std::vector<double> ones_;
};

}  // namespace m4n::detail::bench
