// The cells of a cross-validation in a directory, so that a run that was stopped goes on where it was:
//
//   settings.json  what was asked for, with a checksum of the data: other settings are refused
//   cells.csv      one line a cell: appended to as paths are done, sorted at the end
//   cv.json        the report, when all is done
#pragma once
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "m4n/cross_validate.h"

namespace m4n {

class CvStore {
 public:
  // Makes the directory, or resumes what is there. `options.candidates` must have their decoders. Throws Error if the
  // directory holds results of other data or settings, or cannot be written.
  CvStore(std::string directory, const Dataset& data, std::span<const double> raw_target, const CvOptions& options);
  const std::vector<CvCell>& known() const { return known_; }
  void add(std::span<const CvCell> cells);
  void finish(const CvResult& result, const std::string& report);

 private:
  void read_cells();
  std::string line(const CvCell& cell) const;
  std::string directory_, path_;
  std::vector<Candidate> candidates_;
  std::vector<std::optional<double>> gammas_;
  std::vector<CvCell> known_;
  std::ofstream file_;
};

}  // namespace m4n
