#include "signals.h"

#include <atomic>
#include <csignal>

namespace m4n::cli {
namespace {

std::atomic<bool> stop_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

void on_stop_signal(int) { stop_flag.store(true, std::memory_order_relaxed); }

}  // namespace

void listen_for_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = on_stop_signal;
  // SA_RESETHAND: the second signal meets the default, which ends the program.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(number, nullptr, &before);
    // What the caller has asked to be ignored (nohup) stays ignored.
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

bool stop_requested() { return stop_flag.load(std::memory_order_relaxed); }

}  // namespace m4n::cli
