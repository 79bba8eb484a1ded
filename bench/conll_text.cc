#include "conll_text.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <unordered_map>

#include "data/input.h"

namespace m4n::detail::bench {
namespace {

using Token = std::array<std::string, 3>;  // word, tag, chunk

// Numbers for strings in the order they come.
class Dictionary {
 public:
  std::uint32_t id(const std::string& name) {
    const auto [place, added] = ids_.try_emplace(name, static_cast<std::uint32_t>(ids_.size()));
    if (added) count_.push_back(0);
    ++count_[place->second];
    return place->second;
  }
  std::size_t size() const { return ids_.size(); }
  // rank[id]: 0 for the most frequent.
  std::vector<std::uint32_t> ranks() const {
    std::vector<std::uint32_t> order(count_.size()), rank(count_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return count_[a] > count_[b]; });
    for (std::uint32_t r = 0; r < order.size(); ++r) rank[order[r]] = r;
    return rank;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::size_t> count_;
};

// Runs of columns: which one (0 word, 1 tag), from which offset on, how many.
struct Template {
  std::size_t column;
  int first, count;
};
constexpr Template templates[] = {{0, -2, 1}, {0, -1, 1}, {0, 0, 1},  {0, 1, 1},  {0, 2, 1}, {0, -1, 2}, {0, 0, 2},
                                  {1, -2, 1}, {1, -1, 1}, {1, 0, 1},  {1, 1, 1},  {1, 2, 1}, {1, -2, 2}, {1, -1, 2},
                                  {1, 0, 2},  {1, 1, 2},  {1, -2, 3}, {1, -1, 3}, {1, 0, 3}};

void add_sentence(const std::vector<Token>& sentence, Dictionary& attributes, Dictionary& labels, Sentences& out) {
  const auto length = static_cast<int>(sentence.size());
  for (int m = 0; m < length; ++m) {
    for (const Template& t : templates) {
      if (m + t.first < 0 || m + t.first + t.count > length) continue;
      std::string name{static_cast<char>('a' + t.column), static_cast<char>('c' + t.first),
                       static_cast<char>('0' + t.count)};
      for (int o = 0; o < t.count; ++o)
        name += '|' + sentence[static_cast<std::size_t>(m) + static_cast<std::size_t>(t.first + o)][t.column];
      out.x.column.push_back(attributes.id(name));
    }
    out.x.row_start.push_back(out.x.column.size());
    out.label.push_back(static_cast<std::int32_t>(labels.id(sentence[static_cast<std::size_t>(m)][2])));
  }
}

}  // namespace

Sentences read_conll_text(const std::filesystem::path& path, std::size_t most_sentences) {
  Input input = Input::open(path.string());
  const std::string text = read_all(input, 100'000'000);
  Sentences out;
  out.name = "CoNLL-2000";
  Dictionary attributes, labels;
  std::vector<std::size_t> offsets{0};
  std::vector<Token> sentence;
  for (std::size_t begin = 0; begin < text.size() && offsets.size() <= most_sentences;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) {
      Token& token = sentence.emplace_back();
      std::size_t cell = 0;
      for (std::size_t at = begin; at < end; ++at) {
        if (text[at] == ' ') {
          ++cell;
        } else if (cell < token.size()) {
          token[cell] += text[at];
        }
      }
    } else if (!sentence.empty()) {
      add_sentence(sentence, attributes, labels, out);
      offsets.push_back(out.label.size());
      sentence.clear();
    }
    begin = end + 1;
  }
  const std::vector<std::uint32_t> rank = attributes.ranks();
  for (std::uint32_t& column : out.x.column) column = rank[column];
  for (std::size_t r = 0; r + 1 < out.x.row_start.size(); ++r)
    std::sort(out.x.column.begin() + static_cast<std::ptrdiff_t>(out.x.row_start[r]),
              out.x.column.begin() + static_cast<std::ptrdiff_t>(out.x.row_start[r + 1]));
  out.x.rows = out.label.size();
  out.x.cols = attributes.size();
  out.labels = labels.size();
  out.tokens = Groups(std::move(offsets));
  out.share.assign(out.tokens.count(), 1 / static_cast<double>(out.tokens.count()));
  return out;
}

}  // namespace m4n::detail::bench
