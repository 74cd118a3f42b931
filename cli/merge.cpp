#include <fmt/format.h>

#include <iostream>

#include "cli/failure_text.hpp"
#include "cli/launched_ranks.hpp"
#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/reports/info_output.hpp"

namespace uctrace::cli {

namespace {

void print(const Stored& stored) {
  const Run& run = stored.run;
  std::cout << fmt::format("{}: {} messages, {} transfers of {} processes\n", stored.path.string(),
                           run.messages.size(), run.transfers.size(), run.processes.size());
  for (const std::string& note : run.notes) std::cout << "note: " << note << '\n';
  std::cout << identities_line(run) << '\n';
}

}  // namespace

int run(const MergeCommand& command) {
  end_quietly_on_closed_pipe();
  const LaunchedRanks launched;
  if (launched.is_idle()) return kOk;
  if (!launched.why_alone().empty()) warn("one process merges alone", launched.why_alone());
  try {
    const Stored stored = merge_and_store(command.data, launched.ranks());
    if (launched.ranks().is_first()) print(stored);
  } catch (const OtherRankFailed&) {
    // The failed rank says why, and sets the job's status. If this one failed first, the launcher
    // might end the other before it has reported.
    return kOk;
  }
  return kOk;
}

}  // namespace uctrace::cli
