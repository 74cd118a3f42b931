// What the environment excludes from a recording, so nobody looks for it afterwards.
#include <fmt/format.h>

#include "cli/check/checks.hpp"
#include "cli/check/child.hpp"

namespace uctrace::cli::check {

void check_recorded_part(Findings& findings) {
  std::string conditions;
  for (const char* name : {"UCTRACE_START_ON", "UCTRACE_STOP_ON"}) {
    const std::string when = environment_value(name);
    if (when.empty()) continue;
    conditions += fmt::format("{}{}={}", conditions.empty() ? "" : ", ", name, when);
  }
  if (!conditions.empty()) {
    findings.ok("record",
                fmt::format("only windows of the run ({}); identities are of these", conditions));
  }
  if (const std::string most = environment_value("UCTRACE_MAX_LOG"); !most.empty()) {
    findings.ok("record",
                fmt::format("only the newest events of each process (UCTRACE_MAX_LOG={}); "
                            "identities are incomplete once older ones are overwritten",
                            most));
  }
  if (const std::string layers = environment_value("UCTRACE_LAYERS"); !layers.empty()) {
    findings.ok("record", fmt::format("only the layers {} (UCTRACE_LAYERS); identities that need "
                                      "others are incomplete",
                                      layers));
  }
}

}  // namespace uctrace::cli::check
