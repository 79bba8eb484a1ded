// m4n info: what a model is, and its certificate.
#include <memory>

#include "arguments.h"
#include "m4n/model.h"
#include "messages.h"
#include "reports/json_report.h"
#include "reports/text_report.h"

namespace m4n::cli {
namespace {

struct InfoArguments {
  std::string model;
  bool json = false;
};

Action declare(CLI::App& app) {
  auto arguments = std::make_shared<InfoArguments>();
  add_argument(app, "MODEL", "a model saved by train", arguments->model);
  app.add_flag("--json", arguments->json, "print one JSON object");
  return [arguments] {
    const Model model = Model::load(arguments->model);
    print(arguments->json ? info_json(model) + "\n" : info_text(model));
    return int{done};
  };
}

}  // namespace

Command info_command() {
  return {"info", "MODEL", "say what a model is, and how close to the optimum it is certified to be",
          "Everything train reported but times and paths.\n", declare};
}

}  // namespace m4n::cli
