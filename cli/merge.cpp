#include <fmt/format.h>

#include <iostream>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/reports/info_output.hpp"

namespace uctrace::cli {

int run(const MergeCommand& command) {
  end_quietly_on_closed_pipe();
  const auto [merged, path] = merge_and_store(command.data);
  std::cout << fmt::format("{}: {} messages, {} transfers of {} processes\n", path.string(),
                           merged.messages.size(), merged.transfers.size(),
                           merged.processes.size());
  for (const std::string& note : merged.notes) std::cout << "note: " << note << '\n';
  std::cout << identities_line(merged) << '\n';
  return kOk;
}

}  // namespace uctrace::cli
