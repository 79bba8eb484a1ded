// m4n dump: the weights as text, the largest in absolute value first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "csv_out.h"
#include "m4n/model.h"
#include "messages.h"

namespace m4n::cli {
namespace {

struct DumpArguments {
  std::string model;
  bool json = false;
};

// Weights that are not zero, as indices into model.weights; ties stay in the model's order.
std::vector<std::size_t> by_size(const Model& model) {
  std::vector<std::size_t> order;
  for (std::size_t e = 0; e < model.weights.size(); ++e)
    if (model.weights[e] != 0) order.push_back(e);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(model.weights[a]) > std::abs(model.weights[b]);
  });
  return order;
}

std::string feature_name(const Model& model, std::size_t feature) {
  if (feature == model.width()) return "(bias)";
  if (model.map.kind != FeatureKind::linear) return fmt::format("({} {})", to_string(model.map.kind), feature + 1);
  return model.feature_names.empty() ? std::to_string(feature + 1) : model.feature_names[feature];
}

std::string as_csv(const Model& model) {
  std::string out = "feature,class,weight\n";
  for (const std::size_t e : by_size(model))
    fmt::format_to(std::back_inserter(out), "{},{},{}\n", csv_cell(feature_name(model, e / model.k())),
                   csv_cell(model.classes[e % model.k()]), model.weights[e]);
  return out;
}

std::string as_json(const Model& model) {
  nlohmann::ordered_json weights = nlohmann::ordered_json::array();
  for (const std::size_t e : by_size(model))
    weights.push_back({{"feature", feature_name(model, e / model.k())},
                       {"class", model.classes[e % model.k()]},
                       {"weight", model.weights[e]}});
  const nlohmann::ordered_json dump{{"d", model.d},
                                    {"k", model.k()},
                                    {"bias", model.bias},
                                    {"mean", model.standardizer.mean},
                                    {"inverse_scale", model.standardizer.inverse_scale},
                                    {"weights", std::move(weights)}};
  // Names may hold bytes that are not UTF-8; JSON may not.
  return dump.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int run(const DumpArguments& arguments) {
  const Model model = Model::load(arguments.model);
  if (!model.standardizer.inverse_scale.empty())
    note(false, "these weights apply to standardised features, (x - mean) * inverse_scale; --json gives both");
  print(arguments.json ? as_json(model) : as_csv(model));
  return done;
}

Action declare(CLI::App& app) {
  auto arguments = std::make_shared<DumpArguments>();
  add_argument(app, "MODEL", "a model saved by train", arguments->model);
  app.add_flag("--json", arguments->json, "print one JSON object, with the standardisation (mean, inverse_scale)");
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command dump_command() {
  return {
      "dump", "MODEL", "print the weights as text, the largest first",
      "A CSV feature,class,weight, sorted by the absolute value; weights that are zero are left out, and (bias) is the "
      "constant feature. The weights are those of the model, which apply AFTER its transforms: where it standardises, "
      "to "
      "(x - mean) * inverse_scale.\n",
      declare};
}

}  // namespace m4n::cli
