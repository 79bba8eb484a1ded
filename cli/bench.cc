// m4n bench: how fast this machine is.
#include <memory>

#include "command.h"
#include "demo/demo.h"
#include "messages.h"

namespace m4n::cli {

Command bench_command() {
  return {"bench", "[options]", "measure the speed of this machine, in a few seconds",
          "Needs no file: the data are made up. One thread; oracles and prediction in CPU time, the least of several "
          "repeats; fits in seconds to a relative duality gap of 1e-3, stopped after 3 seconds.\n",
          [](Parameters& parameters) -> Action {
            auto json = std::make_shared<bool>(false);
            parameters.flag("json", "print one JSON object: oracles, fits, predictions_per_second", *json);
            return [json] {
              print(speed_report(*json));
              return int{done};
            };
          }};
}

}  // namespace m4n::cli
