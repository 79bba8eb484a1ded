// A file in chunks of whole lines: threads parse them side by side, and what they made is added up in the order of the
// file, so that the result is that of one thread that reads line after line.
//
// What a line means may depend on those before it: whether there were examples, how many columns they had. A thread
// that parses a chunk can only guess that. So whatever stops it is no defect yet: the chunk is parsed again when all
// before it is known, in order, and only what is refused then is refused. The first defect of the file is the one
// reported.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "core/in_order.h"
#include "data/text.h"

namespace m4n::detail {

// parse(chunk, threads) makes a piece of the lines of a chunk, on any thread; it may use so many threads itself.
// add(chunk, piece, threads) is called in the order of the file, by one thread at a time, when it is known where the
// chunk stands. No piece: parse() failed, and the chunk stands at its first line again; all its lines must be read.
template <class Parse, class Add>
void in_chunks(LineReader& lines, Parse&& parse, Add&& add) {
  const unsigned threads = thread_count(lines.chunking().threads);
  const std::size_t lines_before = lines.line_number();
  LineReader first = lines.chunk();
  bool first_waits = lines.cut(first);
  const bool alone = lines.ended();
  std::vector<LineReader> items;
  while (items.size() < (alone ? 1 : items_in_work(threads))) items.push_back(lines.chunk());
  std::size_t line = lines_before;
  in_order(
      std::move(items), alone ? 1 : threads,
      [&](LineReader& chunk) {
        if (!std::exchange(first_waits, false)) return lines.cut(chunk);
        std::swap(chunk, first);
        return true;
      },
      [&](LineReader& chunk) { return parse(chunk, alone ? threads : 1); },
      [&](LineReader& chunk, auto* piece) {
        chunk.place(line);
        if (piece == nullptr) chunk.rewind();
        add(chunk, piece, alone ? threads : 1);
        line = chunk.line_number();
      });
  lines.pass(line - lines_before);
}

}  // namespace m4n::detail
