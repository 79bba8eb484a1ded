// One pass over all examples that sums numbers and gradients,
//
//   sum_i p_i Phi(x_i) slope_i^T,
//
// on all threads, at the point w that a solver moves (solvers/lbfgs.h). The examples are cut into chunks, which depend
// on the data alone; every worker sums a chunk on its own, and sums of chunks are added in their order. So the digits
// do not depend on the number of threads.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "solvers/kernel_scorer.h"
#include "solvers/problem.h"

namespace m4n::detail {

template <class Scorer>
class GradientPass {
 public:
  GradientPass(const Problem<Scorer>& problem, unsigned threads) : problem_(&problem) {
    constexpr std::size_t most_chunks = 128;
    constexpr std::size_t worth_adding = 8;            // work of a chunk, per weight: adding sums must cost little
    constexpr std::size_t worth_a_thread = 2'000'000;  // multiply-adds
    const Scorer& scorer = *problem.scorer;
    std::size_t work = 0;
    for (std::size_t i = 0; i < problem.examples(); ++i) work += 2 * scorer.work(i);
    const std::size_t most = std::min(most_chunks, work / (worth_adding * (scorer.raw().size() + 1)) + 1);
    chunk_ = (problem.examples() + most - 1) / most;
    const std::size_t chunks = (problem.examples() + chunk_ - 1) / chunk_;
    workers_ = static_cast<unsigned>(std::min({std::size_t{thread_count(threads)}, chunks, work / worth_a_thread + 1}));
    own_.reserve(workers_);
    for (unsigned w = 0; w < workers_; ++w)
      own_.push_back({scorer, AlignedVector<double>(block * scorer.largest_padded_parts()),
                      AlignedVector<double>(block * scorer.largest_padded_parts())});
  }

  unsigned workers() const { return workers_; }

  AlignedVector<double>& point() { return problem_->scorer->raw(); }
  template <class Number>
  double inner(const AlignedVector<Number>& a, const AlignedVector<double>& b) const {
    return kernels::dot(std::span<const Number>(a), b);
  }
  // gradient += lambda w
  void add_point(double lambda, AlignedVector<double>& gradient) {
    const AlignedVector<double>& w = point();
    for (std::size_t j = 0; j < w.size(); ++j) gradient[j] += lambda * w[j];
  }
  // Hands the point over to the scorer.
  void settle() {}

  // visit(worker, i, v, slope, sums): v are the scores of example i; sets slope_i, and adds to sums what it likes.
  // Returns false where the watch, if there is one, said stop: then nothing is known.
  template <std::size_t Numbers, class Visit>
  bool run(const Watch* watch, std::array<double, Numbers>& sums, AlignedVector<double>& gradient, Visit&& visit) {
    const Problem<Scorer>& problem = *problem_;
    sums.fill(0);
    gradient.assign(problem.scorer->raw().size(), 0.0);
    problem.scorer->scores(0, std::span(own_[0].v).first(problem.scorer->largest_padded_parts()));  // what is lazy
    Turns turns;
    parallel_chunks(problem.examples(), chunk_, workers_,
                    [&](std::size_t chunk, std::size_t first, std::size_t last, unsigned worker) {
                      std::array<double, Numbers> local{};
                      const AlignedVector<double>& sum = own_[worker].sum.raw();
                      try {
                        if (!sum_chunk(first, last, worker, watch, turns.given_up, local, visit)) turns.end();
                      } catch (...) {
                        turns.end();  // nobody must wait for this chunk
                        throw;
                      }
                      turns.take(chunk, [&] {
                        for (std::size_t j = 0; j < sum.size(); ++j) gradient[j] += sum[j];
                        for (std::size_t j = 0; j < Numbers; ++j) sums[j] += local[j];
                      });
                    });
    return !turns.given_up;
  }

 private:
  // Some scorers take several examples at a time.
  static constexpr bool takes_blocks = requires(Scorer & s, std::size_t i, std::span<double> v) {
    s.scores(i, i, v);
    s.update(i, i, v);
  };
  static constexpr std::size_t block = takes_blocks ? 16 : 1;
  struct Worker {
    Scorer sum;  // its weights are the sum of a chunk
    AlignedVector<double> v, slope;
  };
  // Chunks are added one after the other. Who has given up skips its turn.
  struct Turns {
    std::atomic<bool> given_up{false};

    template <class Add>
    void take(std::size_t chunk, Add&& add) {
      std::unique_lock lock(mutex);
      came.wait(lock, [&] { return next == chunk || given_up; });
      if (given_up) return;
      add();
      ++next;
      came.notify_all();
    }
    void end() {
      const std::lock_guard lock(mutex);
      given_up = true;
      came.notify_all();
    }

   private:
    std::mutex mutex;
    std::condition_variable came;
    std::size_t next = 0;
  };

  // False where the watch said stop.
  template <std::size_t Numbers, class Visit>
  bool sum_chunk(std::size_t first, std::size_t last, unsigned worker, const Watch* watch,
                 const std::atomic<bool>& given_up, std::array<double, Numbers>& local, Visit&& visit) {
    AlignedVector<double>& sum = own_[worker].sum.raw();
    std::fill(sum.begin(), sum.end(), 0.0);
    Patience patience(watch);
    for (std::size_t i = first; i < last && !given_up; i += block) {
      if (patience.over()) return false;
      visit_block(i, std::min(block, last - i), worker, local, visit);
    }
    return true;
  }

  template <std::size_t Numbers, class Visit>
  void visit_block(std::size_t first, std::size_t count, unsigned worker, std::array<double, Numbers>& local,
                   Visit&& visit) {
    const Scorer& scorer = *problem_->scorer;
    Worker& own = own_[worker];
    if constexpr (takes_blocks) {
      const std::size_t stride = scorer.largest_padded_parts();
      scorer.scores(first, count, own.v);
      for (std::size_t r = 0; r < count; ++r) {
        const std::span<double> slope = std::span(own.slope).subspan(r * stride, stride);
        visit(worker, first + r, std::span<const double>(own.v).subspan(r * stride, stride), slope, local);
        const double p = problem_->weight[first + r];
        for (double& x : slope) x *= p;
      }
      own.sum.update(first, count, own.slope);
    } else {
      if constexpr (requires { scorer.scores(first, std::span<double>(own.v), own.sum); }) {
        scorer.scores(first, own.v, own.sum);  // it needs scratch memory
      } else {
        scorer.scores(first, own.v);
      }
      visit(worker, first, std::span<const double>(own.v), std::span<double>(own.slope), local);
      own.sum.update(first, own.slope, problem_->weight[first]);
    }
  }

  const Problem<Scorer>* problem_;
  std::size_t chunk_ = 1;
  unsigned workers_ = 1;
  std::vector<Worker> own_;
};

// With an exact kernel w = sum_i Phi_i a_i^T. A vector is stored as its coefficients followed by its scores,
//
//   (a, K a),        <(a, K a), (b, K b)> = a.(K b),
//
// so that sums of vectors keep their scores, and a pass takes ONE product with K: that of the slopes, most of which
// are zero.
template <>
class GradientPass<KernelScorer> {
 public:
  GradientPass(const Problem<KernelScorer>& problem, unsigned threads)
      : problem_(&problem), threads_(thread_count(threads)), point_(problem.scorer->coefficients()) {
    const std::size_t stride = problem.scorer->largest_padded_parts();
    point_.resize(2 * point_.size());
    for (std::size_t i = 0; i < problem.examples(); ++i)
      problem.scorer->scores(i, scores().subspan(i * stride, stride));
  }

  unsigned workers() const { return threads_; }
  AlignedVector<double>& point() { return point_; }
  template <class Number>
  double inner(const AlignedVector<Number>& a, const AlignedVector<double>& b) const {
    const std::size_t half = point_.size() / 2;
    return kernels::dot(std::span<const Number>(a).first(half), std::span<const double>(b).subspan(half));
  }
  void add_point(double lambda, AlignedVector<double>& gradient) {
    for (std::size_t j = 0; j < point_.size(); ++j) gradient[j] += lambda * point_[j];
  }
  void settle() {
    const auto half = static_cast<std::ptrdiff_t>(point_.size() / 2);
    problem_->scorer->set_coefficients({point_.begin(), point_.begin() + half}, threads_);
  }

  template <std::size_t Numbers, class Visit>
  bool run(const Watch* watch, std::array<double, Numbers>& sums, AlignedVector<double>& gradient, Visit&& visit) {
    constexpr std::size_t chunk = 256;
    const std::size_t n = problem_->examples(), stride = problem_->scorer->largest_padded_parts();
    const std::size_t k = problem_->scorer->parts(0);
    for (std::size_t i = 0; i < n; ++i)  // sums of vectors have summed the padding too
      std::fill_n(scores().data() + i * stride + k, stride - k, kernels::padding_score);
    AlignedVector<double> slopes(n * stride, 0.0);
    std::vector<std::array<double, Numbers>> parts((n + chunk - 1) / chunk);
    parallel_chunks(n, chunk, threads_, [&](std::size_t c, std::size_t first, std::size_t last, unsigned worker) {
      std::array<double, Numbers> local{};
      for (std::size_t i = first; i < last; ++i) {
        const std::span<double> slope = std::span(slopes).subspan(i * stride, stride);
        visit(worker, i, std::span<const double>(scores()).subspan(i * stride, stride), slope, local);
        for (double& x : slope) x *= problem_->weight[i];
      }
      parts[c] = local;
    });
    for (std::size_t i = 0; i < n; ++i) std::fill_n(scores().data() + i * stride + k, stride - k, 0.0);
    sums.fill(0);
    for (const auto& local : parts)
      for (std::size_t j = 0; j < Numbers; ++j) sums[j] += local[j];
    if (watch != nullptr && watch->expired()) return false;
    const AlignedVector<double> image = times(problem_->scorer->gram(), slopes, stride, threads_);
    gradient.resize(point_.size());
    std::copy(slopes.begin(), slopes.end(), gradient.begin());
    std::copy(image.begin(), image.end(), gradient.begin() + static_cast<std::ptrdiff_t>(slopes.size()));
    return true;
  }

 private:
  std::span<double> scores() { return std::span(point_).subspan(point_.size() / 2); }

  const Problem<KernelScorer>* problem_;
  unsigned threads_;
  AlignedVector<double> point_;
};

}  // namespace m4n::detail
