// Work whose products are needed in order: threads make them side by side, and they are added one after another.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parallel.h"

namespace m4n::detail {

template <class Item, class Next, class Make, class Add>
class OrderedWork {
 public:
  OrderedWork(std::vector<Item> items, Next& next, Make& make, Add& add) : next_(next), make_(make), add_(add) {
    for (Item& item : items) slots_.push_back({std::move(item), std::nullopt, false});
  }

  void run(unsigned threads) {
    parallel_chunks(threads, 1, threads, [this](std::size_t, std::size_t, std::size_t, unsigned) { work(); });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Slot {
    Item item;
    std::optional<std::invoke_result_t<Make&, Item&>> product;
    bool made;
  };
  Slot& slot(std::size_t number) { return slots_[number % slots_.size()]; }

  void work() {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      if (!adding_ && added_ < begun_ && slot(added_).made) {
        Slot& own = slot(added_);
        adding_ = true;
        stopped_ = !unlocked(lock, [&] {
          add_(own.item, own.product ? &*own.product : nullptr);
          own.product.reset();
        });
        adding_ = own.made = false;
        ++added_;
      } else if (!ended_ && !fetching_ && begun_ < added_ + slots_.size()) {
        Slot& own = slot(begun_);
        fetching_ = true;
        bool more = false;
        // A failure counts when all that came before it is added.
        ended_ = !unlocked(lock, [&] { more = next_(own.item); }) || !more;
        fetching_ = false;
        if (!ended_) {
          ++begun_;
          changed_.notify_all();
          unlocked(lock, [&] { make(own); });
          own.made = true;
        }
      } else if (ended_ && added_ == begun_) {
        break;
      } else {
        changed_.wait(lock);
        continue;
      }
      changed_.notify_all();
    }
  }

  // body() while others may go on; false if it failed.
  template <class Body>
  bool unlocked(std::unique_lock<std::mutex>& lock, Body&& body) {
    lock.unlock();
    std::exception_ptr failure;
    try {
      body();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !stopped_) failure_ = failure;
    return !failure;
  }

  void make(Slot& own) {
    try {
      own.product.emplace(make_(own.item));
    } catch (...) {
      own.product.reset();  // judged when its turn comes
    }
  }

  Next& next_;
  Make& make_;
  Add& add_;
  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t begun_ = 0, added_ = 0;
  bool fetching_ = false, adding_ = false, ended_ = false, stopped_ = false;
  std::exception_ptr failure_;  // of the first item that has one: what follows it is not added
};

// How many items are in work at a time: one more for the thread that fetches, one that waits for its turn.
inline std::size_t items_in_work(unsigned threads) { return std::size_t{threads} + 2; }

// next(item) fetches the next item, false: there is none; make(item) makes its product, on any thread, several at a
// time; add(item, product) is called for one after the other, in their order. No product: make() failed. The items
// given are used again and again; as many products wait at most.
template <class Item, class Next, class Make, class Add>
void in_order(std::vector<Item> items, unsigned threads, Next&& next, Make&& make, Add&& add) {
  OrderedWork<Item, std::remove_reference_t<Next>, std::remove_reference_t<Make>, std::remove_reference_t<Add>>(
      std::move(items), next, make, add)
      .run(threads);
}

}  // namespace m4n::detail
