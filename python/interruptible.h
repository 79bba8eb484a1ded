// Long work without the GIL that Ctrl-C can stop. The work runs in a thread of its own; the calling thread waits and,
// if it is the main one, asks Python about signals twenty times a second, whichever threads the library itself starts.
// In other threads Python hears none, and asking would meet an interpreter that is being closed. No thread outlives the
// call, so a fork between calls is safe.
#pragma once
#include <dlfcn.h>
#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace m4n::python {

namespace nb = nanobind;

class StopFlag {
 public:
  bool raised() const { return raised_; }
  void raise() { raised_ = true; }

 private:
  std::atomic<bool> raised_ = false;
};

// Once Python ends, no thread but the main one gets the GIL: it would be ended in the attempt, which C++ does not
// survive. Such a thread waits here for the end of the process.
inline void wait_where_python_ends() {
  // The stable ABI has neither name for every version from 3.12 on; the older one ends with 3.12.
  static int (*const is_finalizing)() = [] {
    void* found = dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
    if (found == nullptr) found = dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
    return reinterpret_cast<int (*)()>(found);
  }();
  const bool ends = is_finalizing() != 0;
  while (ends) std::this_thread::sleep_for(std::chrono::hours(1));
}

// work(flag) -> result. Must be called with the GIL held; throws what Python's signal handler raised.
template <class Work>
auto run_interruptibly(Work&& work) {
  using namespace std::chrono_literals;
  using Result = std::invoke_result_t<Work&, StopFlag&>;
  StopFlag flag;
  std::optional<Result> result;
  std::exception_ptr failure;
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false, signalled = false;
  const nb::module_ threading = nb::module_::import_("threading");
  const bool main_thread = threading.attr("current_thread")().is(threading.attr("main_thread")());
  {
    const nb::gil_scoped_release released;
    std::thread worker([&] {
      try {
        result.emplace(work(flag));
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      finished.notify_one();
    });
    std::unique_lock lock(mutex);
    if (!main_thread) finished.wait(lock, [&] { return done; });
    while (!finished.wait_for(lock, 50ms, [&] { return done; }) && !signalled) {
      lock.unlock();
      {
        const nb::gil_scoped_acquire acquired;
        signalled = PyErr_CheckSignals() != 0;
      }
      if (signalled) flag.raise();
      lock.lock();
    }
    lock.unlock();
    worker.join();
    if (!main_thread) wait_where_python_ends();
  }
  if (signalled) throw nb::python_error();
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

// A Python function to be called from working threads. It is borrowed, for counting references needs the GIL; the
// caller keeps it alive. What it raises stops the work and is raised again by `rethrow`.
class Observer {
 public:
  Observer(nb::handle function, StopFlag& flag) : function_(function), flag_(flag) {}
  explicit operator bool() const { return !function_.is_none(); }
  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    wait_where_python_ends();
    const nb::gil_scoped_acquire acquired;
    try {
      function_(arguments...);
    } catch (...) {
      failure_ = std::current_exception();
      flag_.raise();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  nb::handle function_;
  StopFlag& flag_;
  mutable std::exception_ptr failure_;
};

}  // namespace m4n::python
