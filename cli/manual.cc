// Manual pages in the language of man (roff).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "m4n/version.h"
#include "pages.h"

namespace m4n::cli {
namespace {

// Characters that roff takes for something else, and how they are written.
constexpr struct {
  char plain;
  const char* written;
} special[] = {{'\\', "\\e"}, {'-', "\\-"}, {'^', "\\(ha"}, {'~', "\\(ti"}, {'\'', "\\(aq"}, {'`', "\\(ga"}};

// A line that starts with a dot would be a command.
std::string roff(const std::string& text) {
  std::string out = text.starts_with('.') ? "\\&" : "";
  for (const char c : text) {
    const auto* const found =
        std::find_if(std::begin(special), std::end(special), [c](const auto& entry) { return entry.plain == c; });
    out += found == std::end(special) ? std::string(1, c) : found->written;
  }
  return out;
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

// A line each.
std::string paragraphs(const std::string& text) {
  std::istringstream lines(text);
  std::string out, line;
  while (std::getline(lines, line))
    if (!line.empty()) out += (out.empty() ? "" : ".PP\n") + roff(line) + '\n';
  return out;
}

std::string section(const std::string& title, const std::string& body) { return ".SH " + title + '\n' + body; }

// The title line has no date: the same sources give the same page.
std::string page_start(const std::string& name, const std::string& summary, const std::string& synopsis) {
  return fmt::format(".TH {} 1 \"\" \"m4n {}\"\n", roff(upper(name)), M4N_VERSION) +
         section("NAME", fmt::format("{} \\- {}\n", roff(name), roff(summary))) +
         section("SYNOPSIS", ".nf\n" + synopsis + ".fi\n");
}

std::string tagged(const std::string& tag, const std::string& text) { return ".TP\n" + tag + '\n' + roff(text) + '\n'; }

std::string tag(const Parameter& p) {
  if (p.kind == Parameter::argument) return fmt::format("\\fI{}\\fR", roff(p.name));
  const std::string value = p.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(p.value));
  return fmt::format("\\fB\\-\\-{}\\fR{}", roff(p.name), value);
}

}  // namespace

std::string overview_manual() {
  std::string all, pages;
  for (const Command& command : commands()) {
    all += tagged(fmt::format("\\fB{}\\fR", command.name), command.summary);
    pages += fmt::format("{}.BR m4n\\-{} (1)", pages.empty() ? "" : ",\n", command.name);
  }
  return page_start("m4n", tool_summary,
                    "\\fBm4n\\fR \\fICOMMAND\\fR [options] \\fIFILE\\fR...\n\\fBm4n help\\fR [\\fICOMMAND\\fR]\n"
                    "\\fBm4n \\-\\-version\\fR\n") +
         section("DESCRIPTION", paragraphs(streams)) + section("COMMANDS", all) +
         section("EXIT STATUS", paragraphs(exit_codes)) + section("ENVIRONMENT", paragraphs(simd_variable)) +
         section("SEE ALSO", pages + '\n');
}

std::string command_manual(const Command& command) {
  std::string options;
  for (const Parameter& p : parameters_of(command))
    options += tagged(tag(p), p.help + (p.fallback.empty() ? "" : fmt::format(" [{}]", p.fallback)));
  return page_start("m4n-" + command.name, command.summary,
                    fmt::format("\\fBm4n {}\\fR {}\n", command.name, roff(command.usage))) +
         section("DESCRIPTION", paragraphs(command.details)) + section("OPTIONS", options) +
         section("SEE ALSO", ".BR m4n (1)\n");
}

}  // namespace m4n::cli
