#include "cli/check/check_run.hpp"

#include <iostream>

#include "cli/check/checks.hpp"
#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/reports/expectations.hpp"

namespace uctrace::cli::check {
namespace {

void write(std::ostream& out, const Run& run, const Judgement& judgement,
           const CheckCommand& command, std::size_t width) {
  Table pairs = unexpected_table(run, judgement);
  if (command.limit) pairs.keep_first(*command.limit);
  switch (command.format) {
    case Format::table:
      return write_judgement(out, run, judgement, command.limit.value_or(SIZE_MAX),
                             colour_of_output(), width);
    case Format::csv:
      return write_csv(out, pairs);
    case Format::ndjson:
      return write_ndjson(out, pairs, false);
    case Format::json: {
      nlohmann::ordered_json json = {{"schema", kCheckSchema}, {"run", run.run_id}};
      json.update(judgement_json(run, judgement));
      json["pairs"] = to_json(pairs);
      out << dump(json, 2) << '\n';
    }
  }
}

}  // namespace

int check_recorded_run(const CheckCommand& command) {
  if (!command.program.empty()) {
    throw Error(
        {.what = "check --expect",
         .why = "it looks at a run that was recorded, and a command to be run is given, too",
         .to_do = "record the command first, then check --run DIR --expect ..."});
  }
  const std::vector<Expectation> expectations = parse_expectations(command.expect);
  Outcome outcome = Outcome::unproven;
  const std::size_t width = width_of_output(command.format, command.wide);
  FittedOutput fitted(std::cout, width);
  tell_run(command.data, fitted, [&](std::ostream& out, const RowSource& rows) {
    const Judgement judgement = judge(rows, expectations);
    outcome = judgement.outcome();
    write(out, rows.run(), judgement, command, width);
  });
  return outcome == Outcome::met ? kOk : kProblemFound;
}

}  // namespace uctrace::cli::check
