// The cells of a cross-validation in a directory, so that a run that was stopped goes on where it was:
//
//   settings.json  what was asked for, with a checksum of the data: other settings are refused
//   cells.csv      one line per cell: appended to as paths are done, sorted at the end
//   running        a directory: where paths that are not done stand (CvOptions::running); it goes when all is done
//   cv.json        the report, when all is done
#pragma once
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "m4n/cross_validate.h"

namespace m4n::detail {

// One run at a time. Nothing is left behind if the program dies.
class DirectoryLock {
 public:
  DirectoryLock() = default;
  // Throws Error if another run holds the directory.
  void acquire(const std::string& directory);
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock();

 private:
  int file_ = -1;
};

class CvStore {
 public:
  // Makes the directory, or resumes what is there. `options.candidates` must have their decoders. Throws Error if the
  // directory holds results of other data or settings, or files that are not a cross-validation's, or is in use, or
  // cannot be written.
  CvStore(std::string directory, const Dataset& data, std::span<const double> raw_target, const CvOptions& options);
  const std::vector<CvCell>& known() const { return known_; }
  // For CvOptions::running.
  std::string running() const { return directory_ + "/running"; }
  void add(std::span<const CvCell> cells);
  void finish(const CvResult& result, const std::string& report);
  // The files of a store that users see.
  static std::vector<std::string> files(const std::string& directory);
  // Whether a run was finished in `directory`.
  static bool finished(const std::string& directory);

 private:
  void read_cells();
  std::string line(const CvCell& cell) const;
  std::string directory_, path_;
  std::vector<Candidate> candidates_;
  std::vector<std::optional<double>> gammas_;
  std::size_t splits_;
  std::vector<CvCell> known_;
  DirectoryLock lock_;
  std::ofstream file_;
};

}  // namespace m4n::detail
