// m4n demo: why M4N exists, in two tables, and as a page. No file is needed.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include "command.h"
#include "demo/demo.h"
#include "files.h"
#include "messages.h"
#include "progress.h"

namespace m4n::cli {
namespace {

struct DemoArguments {
  Context context;
  std::string out;
  bool json = false;
};

// NO_COLOR, set to anything but nothing, asks for plain text.
bool wants_bold() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

// A counter on stderr, redrawn in place, only on a terminal.
class Counter {
 public:
  ~Counter() {
    if (visible_) std::fputs("\r\x1b[K", stderr);
  }
  void draw(std::size_t done, std::size_t all) const {
    if (visible_) std::fputs(fmt::format("\r\x1b[Ktraining: {} of {} models", done, all).c_str(), stderr);
  }

 private:
  bool visible_ = isatty(STDERR_FILENO) == 1;
};

std::vector<Study> studies_with_counter(const Context& context) {
  const Counter counter;
  return run_studies(context, [&](std::size_t done, std::size_t all) { counter.draw(done, all); });
}

int run(const DemoArguments& arguments, const std::string& command) {
  if (!arguments.out.empty()) require_writable(arguments.out, "--out");
  const auto start = std::chrono::steady_clock::now();
  Context context = arguments.context;
  context.cancelled = stop_requested;
  listen_for_stop_signals();
  const std::vector<Study> studies = studies_with_counter(context);
  const IrisResult iris = run_iris(context);
  if (stop_requested()) {
    warn("interrupted before all models were trained; nothing to show");
    return interrupted;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!arguments.out.empty()) {
    OutputSink sink(arguments.out);
    sink.write(page_html(demo_page(studies, iris, command)));
    sink.finish();
  }
  arguments.json ? print(demo_json(studies, iris, seconds) + "\n")
                 : print(demo_text(studies, iris, seconds, wants_bold()), Printed::styled);
  return done;
}

Action declare_demo(Parameters& parameters) {
  auto arguments = std::make_shared<DemoArguments>();
  parameters.flag("json", "print all numbers as one JSON object", arguments->json);
  parameters.file("out", "FILE.html", "write it as a page, too, with pictures", arguments->out);
  parameters.threads(arguments->context);
  return [arguments, &parameters] { return run(*arguments, parameters.command_line("demo")); };
}

}  // namespace

Command demo_command() {
  return {"demo", "[--json] [--out FILE.html]",
          "train M4N, M3N, CRF and QS side by side on embedded data; see why M4N exists",
          "Part 1 trains on synthetic data whose Bayes risk is known and shows the exact excess risk as the number of "
          "examples grows. Part 2 trains on the iris flowers. No file is read.\n",
          declare_demo};
}

}  // namespace m4n::cli
