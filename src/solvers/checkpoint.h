// A long fit that can be killed: what a solver knows is written to a file every few minutes, and another process goes
// on there, to the same bytes of a model as if nothing had happened.
//
// A fit is a row of stages (SolverStage), each a run of one solver, and the next one depends only on what they
// returned. The file holds those results; the state of the stage that was running; and what the code around it keeps
// meanwhile (CheckpointScope), first of all the dual point. A fit that resumes takes the same way: stages that were
// over return their results at once, the one that was running gets its state back.
//
// A path of lambdas is such a row, too. Who runs it keeps what was made of each solution (Checkpoint::keep), as the
// weights of the lambdas that are over are not in the file: resumed, they come as they happen to be.
//
//   offset  content
//        0  the letters M4NSTATE, the format as 4 bytes
//       12  settings: the version, and everything the digits depend on (api/settings.h)
//           kind of the dual point; its length, the dual point (solvers/warm_start.h)
//           results of the stages that are over; what is kept of them; further scopes; the state of the stage
//     last  CRC-64/XZ of all bytes before it
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/archive.h"
#include "core/settings.h"
#include "m4n/context.h"
#include "solvers/problem.h"

namespace m4n::detail {

class Checkpoint {
 public:
  struct State {
    std::function<void(StateSaver&)> save;
    std::function<void(StateLoader&)> load;
  };
  // Of a function that names values to an archive, or of an object that does.
  template <class T>
  static State state_of(T& values) {
    const auto transfer = [&values](auto& a) {
      if constexpr (std::is_invocable_v<T&, StateSaver&>) {
        values(a);
      } else {
        a(values);
      }
    };
    return {transfer, transfer};
  }

  enum class Saves {
    when_due_and_at_end,  // also where it is stopped
    when_due
  };
  // `file`: where to save, every `seconds`, but not more than a tenth of the time; empty: nowhere. `settings`:
  // everything the digits of this fit depend on. `kind`: of its dual point, as in WarmStart.
  Checkpoint(std::string file, double seconds, Saves saves, Settings settings, std::string kind);
  // What is made of the solutions of a path: saved with it, and there again after resume().
  template <class T>
  void keep(T& values) {
    kept_ = state_of(values);
  }
  // Goes on where the file says. Throws Error where it is damaged, or of other settings.
  void resume(const std::string& path);
  bool saves_at_end() const { return !file_.empty() && saves_ == Saves::when_due_and_at_end; }

 private:
  friend class CheckpointScope;
  friend class SolverStage;

  bool due() const;
  void save(const State& stage);
  void load(const State& stage);

  std::string file_;
  Settings settings_;
  std::string kind_;
  double seconds_;
  Saves saves_;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::duration saving_{};  // how long the last time took
  bool failed_ = false;                           // the last time
  std::optional<State> kept_;
  std::vector<State> scopes_;
  std::size_t stages_ = 0;               // that have begun
  std::vector<SolveResult> over_;        // of those that are over
  std::string resumed_, resumed_state_;  // the file to go on from, and its bytes from the dual point on; none: afresh
};

// Throws Error unless checkpoints can be kept at that path.
void require_place_for_checkpoint(const std::string& path);

// What a file says beside the state of solvers.
struct CheckpointFile {
  Settings settings;
  std::string kind;
  std::string rest;  // the dual point behind its length, and the state
};
// Throws Error where the file is damaged or no such file.
CheckpointFile read_checkpoint(const std::string& path);

// What the code around solvers keeps while they run. The first one of a fit is its dual point.
class CheckpointScope {
 public:
  template <class T>
  CheckpointScope(const Context& context, T& values) : checkpoint_(context.checkpoint.get()) {
    if (checkpoint_ != nullptr) checkpoint_->scopes_.push_back(Checkpoint::state_of(values));
  }
  CheckpointScope(const CheckpointScope&) = delete;
  CheckpointScope& operator=(const CheckpointScope&) = delete;
  ~CheckpointScope() {
    if (checkpoint_ != nullptr) checkpoint_->scopes_.pop_back();
  }

 private:
  Checkpoint* checkpoint_;
};

inline bool saves_at_end(const Context& context) {
  return context.checkpoint != nullptr && context.checkpoint->saves_at_end();
}

// One run of a solver:
//
//   SolverStage stage(context);
//   if (stage.over()) return *stage.over();
//   const auto state = [&](auto& a) { a(watch, result, ...); };      all that changes in the loop
//   stage.begin(state);
//   while (..) { stage.pause(state); .. }
//   stage.pause_at_end(state);                                         the certificate is taken again
//   return stage.finish(result);
class SolverStage {
 public:
  explicit SolverStage(const Context& context)
      : context_(&context),
        checkpoint_(context.checkpoint.get()),
        number_(checkpoint_ != nullptr ? checkpoint_->stages_++ : 0) {}

  // Where it is stopped, too: a step that cannot be finished must be taken back then.
  bool saves_at_end() const { return detail::saves_at_end(*context_); }
  const SolveResult* over() const {
    return checkpoint_ != nullptr && number_ < checkpoint_->over_.size() ? &checkpoint_->over_[number_] : nullptr;
  }
  template <class Archive>
  void begin(Archive& state) {
    if (checkpoint_ != nullptr && !checkpoint_->resumed_.empty()) checkpoint_->load(Checkpoint::state_of(state));
  }
  template <class Archive>
  void pause(Archive& state) {
    if (checkpoint_ != nullptr && checkpoint_->due()) save(Checkpoint::state_of(state));
  }
  template <class Archive>
  void pause_at_end(Archive& state) {
    if (saves_at_end()) save(Checkpoint::state_of(state));
  }
  SolveResult finish(SolveResult result) const {
    if (checkpoint_ == nullptr) return result;
    checkpoint_->over_.push_back(result);
    if (result.interrupted) checkpoint_->file_.clear();  // what follows starts from a stage that is not over
    return result;
  }

 private:
  void save(const Checkpoint::State& state) const;

  const Context* context_;
  Checkpoint* checkpoint_;
  std::size_t number_;
};

}  // namespace m4n::detail
