// The head of every report: the run's facts, and the result of its accounting identities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "log-merger/model/model.hpp"

namespace uctrace {

// The facts that head every report. Texts are empty where unknown.
struct RunFacts {
  std::string id, command, mpi, ucx;
  std::string started;            // UTC, 2026-11-21T01:02:03Z
  std::uint64_t duration_ns = 0;  // from the epoch to the last instant recorded
  std::size_t processes = 0, hosts = 0;
  bool complete = false;  // every process closed its log and dropped nothing
};
RunFacts facts_of(const Run& run);

// The largest relative error of times of two processes; null if not known.
nlohmann::ordered_json clock_error_ns(const Run& run);
// The recorded part of the run, for a person; empty: everything.
std::string recording_sentence(const Run& run);
struct IdentityCount {
  std::size_t holds = 0, violated = 0, incomplete = 0;
};
IdentityCount count_identities(const Run& run);

// Logs that are not as their processes wrote them ("a.ulog, b.ulog and 7 more logs are damaged or
// contradict themselves"); empty: none. That may explain violated identities.
std::string damage_sentence(const Run& run);

// "identities: all 12 hold", or how many do not, and which; if one is violated, also the damaged
// logs.
std::string identities_line(const Run& run);

// The identities as rows of {name, scope, statement, left, right, result}.
nlohmann::ordered_json identities_json(const Run& run);

}  // namespace uctrace
