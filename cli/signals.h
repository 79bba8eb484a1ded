// Ctrl-C, SIGTERM and SIGHUP (a terminal that is closed) ask the solver to stop with the best weights it has; a second
// one kills at once.
#pragma once

namespace m4n::cli {

// Until this call a signal ends the program as usual: there is nothing to save yet.
void listen_for_stop_signals();
bool stop_requested();

}  // namespace m4n::cli
