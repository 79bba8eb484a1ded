// Work split over threads so that results never depend on how many there are: the range is cut into chunks of a
// fixed size, each chunk is computed on its own, and sums over chunks are taken in their order.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace m4n::detail {

inline unsigned thread_count(unsigned requested) {
  return requested > 0 ? requested : std::max(1U, std::thread::hardware_concurrency());
}

// body(chunk, begin, end, worker) for every chunk of 0..n; worker < the number of threads used. The first exception
// is rethrown here.
template <class Body>
void parallel_chunks(std::size_t n, std::size_t chunk_size, unsigned threads, Body&& body) {
  const std::size_t chunks = (n + chunk_size - 1) / chunk_size;
  const unsigned workers = static_cast<unsigned>(std::min<std::size_t>(thread_count(threads), chunks));
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  auto work = [&](unsigned worker) {
    try {
      for (std::size_t c; (c = next++) < chunks;) body(c, c * chunk_size, std::min(n, (c + 1) * chunk_size), worker);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next = chunks;
    }
  };
  std::vector<std::thread> pool;
  try {
    for (unsigned w = 1; w < workers; ++w) pool.emplace_back(work, w);
  } catch (const std::system_error&) {
    // No more threads can be started: those that run do all the chunks.
  }
  if (workers > 0) work(0);
  for (auto& t : pool) t.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace m4n::detail
