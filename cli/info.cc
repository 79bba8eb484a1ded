// m4n info: what a model is, and its certificate.
#include <memory>

#include "command.h"
#include "m4n/model.h"
#include "messages.h"
#include "reports/report.h"

namespace m4n::cli {
namespace {

struct InfoArguments {
  std::string model;
  bool json = false;
};

Action declare_info(Parameters& parameters) {
  auto arguments = std::make_shared<InfoArguments>();
  parameters.argument("MODEL", "a model saved by train", arguments->model);
  parameters.flag("json", "print one JSON object", arguments->json);
  return [arguments] {
    const Model model = Model::load(arguments->model);
    arguments->json ? print(info_json(model)) : print(info_text(model), Printed::words);
    return int{done};
  };
}

}  // namespace

Command info_command() {
  return {"info", "MODEL", "say what a model is, and how close to the optimum it is certified to be",
          "Everything train reported but times and paths.\n", declare_info};
}

}  // namespace m4n::cli
