// Matchings as text. Words are separated by blanks or tabs; blank lines and lines that start with # mean nothing.
//
//     features NAME NAME ...       optional, once, before all else: the names of the features of a pair
//     matching M p_1 ... p_M       an example: two sets of M points. Point i of the first belongs to point p_i of the
//                                  second, both from 1. Without any p the partners are not known.
//     i j v_1 ... v_d              M x M such lines, (1,1), (1,2), ... (M,M): the features of the pair i, j
//
// M may differ from example to example, d may not. Values are numbers of at most 1e12 in size. Read in one pass, in
// time linear in the text; beside the result one buffer of text.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/text.h"
#include "m4n/dataset.h"
#include "m4n/read.h"

namespace m4n::detail {

// Points per side: more of them make 10^8 pairs, and are a slip.
inline constexpr std::size_t largest_matching = 10000;

// For training: pair (i, j) of an example of M points is its row i M + j, its labels are the M partners, from 0. There
// are no classes. Unknown partners are refused.
Dataset read_matchings(LineReader& lines);

// For a model trained on `features` features of these names (or none). A file that names its features may have them in
// any order. Partners that are not known become unknown_label where they are optional.
Dataset read_matchings(LineReader& lines, const std::vector<std::string>& feature_names, std::size_t features,
                       Truth partners);

// Whether a file that begins like this holds matchings: its first word is `matching`, with a number behind it, or
// `features`, with a line of that kind (or the end of what is known) after it.
bool looks_like_matchings(std::string_view head);

// The text of matchings, dense ones, as the reader takes it; numbers are read back bit for bit. The line of names is
// nothing where there are none.
void append_feature_line(const std::vector<std::string>& feature_names, std::string& text);
void append_matching(const Dataset& data, std::size_t example, std::string& text);

}  // namespace m4n::detail
