// m4n dump: the weights as text, the largest in absolute value first.
#include <memory>

#include "command.h"
#include "m4n/model.h"
#include "messages.h"
#include "reports/report.h"

namespace m4n::cli {
namespace {

struct DumpArguments {
  std::string model;
  bool json = false;
};

int run(const DumpArguments& arguments) {
  const Model model = Model::load(arguments.model);
  if (structure_of(model).features(model).standardized)
    note(Talk::all, "these weights apply to standardised features, (x - mean) * inverse_scale; --json gives both");
  print(arguments.json ? dump_json(model) : dump_csv(model));
  return done;
}

Action declare_dump(Parameters& parameters) {
  auto arguments = std::make_shared<DumpArguments>();
  parameters.argument("MODEL", "a model saved by train", arguments->model);
  parameters.flag("json", "print one JSON object, with the standardisation (mean, inverse_scale)", arguments->json);
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command dump_command() {
  return {
      "dump", "MODEL", "print the weights as text, the largest first",
      "A CSV feature,class,weight, sorted by the absolute value; weights that are zero are left out, and (bias) is the "
      "constant feature.\n"
      "\nFor sequences: (after L) is a transition from the label L to the class, and (start) and (end) are for the "
      "first and the last token. For rankings: the class is item_rank, or the item where the loss needs one score "
      "per item. For matchings: the class is pair. For labels that depend on each other: (edge A B) is a table, its "
      "class the two labels (01: A off, B on). For graphs: (edge) is the table of every edge, (edge N) that of its "
      "feature N, (edge:TYPE N) with types, and TYPE:LABEL the class of a node with a type.\n"
      "\nThe weights are those of the model, which apply AFTER its transforms: where it standardises, to "
      "(x - mean) * inverse_scale; on sequences, and for features of edges, that is folded into them, and they apply "
      "to the data as they came.\n",
      declare_dump};
}

}  // namespace m4n::cli
