// Paths are checked before any long work, so that hours of training do not end in "no such directory".
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/atomic_file.h"
#include "m4n/options.h"

namespace m4n::cli {

// What stands behind the last slash: pages are the same wherever a file lies.
std::string file_name(const std::string& path);

// The data and the files that options name (costs, class weights, a template): what is read must not be written to.
// Throws Error unless those of the options can be read.
std::vector<std::string> readable_inputs(const std::string& data, const TrainOptions& options);

// Throws Error unless the file can be read. `what` is the option, as in "--model".
void require_readable(const std::string& path, std::string_view what);

using detail::require_writable;

// As require_writable, for a file that is written in place: an existing one must let itself be written. It is not
// changed.
void require_writable_in_place(const std::string& path, std::string_view what);

// Throws UsageError if `output` is the same file as one of `others`, which are "an input", or what `role` says.
void require_distinct(const std::string& output, std::string_view what, const std::vector<std::string>& others,
                      std::string_view role = "an input");

}  // namespace m4n::cli
