// Where words go: data to stdout, everything else to stderr.
#pragma once
#include <string>
#include <string_view>

namespace m4n::cli {

// "m4n: text" and a new line, on stderr. A note is for information and is left out when quiet.
void note(bool quiet, std::string_view text);
void warn(std::string_view text);
void report_error(std::string_view text);

// Data on stdout. Throws Error if it cannot be written (a full disk); `finish_output` does so for what was still kept
// in the buffer. A reader that has gone away (`| head`) ends the program quietly.
void print(std::string_view text);
void finish_output();

}  // namespace m4n::cli
