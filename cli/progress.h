// What is seen of a training that runs: a line on the terminal, and a log with one JSON object per certificate.
#pragma once
#include <fstream>
#include <string>

#include "m4n/context.h"
#include "m4n/cross_validate.h"
#include "messages.h"

namespace m4n::cli {

// One line on stderr that is redrawn in place and wiped at the end. Draws nothing unless stderr is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(Talk talk);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void draw(const Progress& progress);

 private:
  bool visible_;
  double first_gap_ = 0;
};

// The same for paths of lambdas, with the time that is left.
class CountingLine {
 public:
  explicit CountingLine(Talk talk);
  ~CountingLine();
  CountingLine(const CountingLine&) = delete;
  CountingLine& operator=(const CountingLine&) = delete;
  // `what` is said behind the bar.
  void draw(const CvProgress& progress, const std::string& what = {}) const;

 private:
  bool visible_;
};

// Lines {"epoch", "seconds", "primal", "dual", "relative_gap"}, each flushed, so that a reader can follow.
class TrainingLog {
 public:
  // An empty path: no log. Throws Error if the file cannot be opened, or later not written.
  explicit TrainingLog(const std::string& path);
  void write(const Progress& progress);

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace m4n::cli

// Ctrl-C, SIGTERM and SIGHUP (a terminal that is closed) ask the solver to stop with the best weights it has; a second
// one kills at once.
namespace m4n::cli {

// Until this call a signal ends the program as usual: there is nothing to save yet.
void listen_for_stop_signals();
bool stop_requested();

}  // namespace m4n::cli
