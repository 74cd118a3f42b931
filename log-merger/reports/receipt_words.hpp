// Words that the short and the full receipt of a message share.
#pragma once

#include <cstdint>
#include <string>

#include "log-merger/model/model.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

bool is_one_sided(MessageKind kind);

// One end of the message's time is not its own clock reading, but that of the enclosing MPI call or
// of the event that ended it: its duration is printed with "~".
bool is_bounded(const Message& message);

bool is_between_hosts(const Run& run, const Message& message);

// " +- 310 ns": the error of times from both sides' clocks. Empty within a host, and if not known.
std::string error_text(const Run& run, const Message& message);

// "rank 1", or the process if it has no rank.
std::string party_text(const Labels& labels, Party party);

// "the log of rank 1 is incomplete", "2 logs are incomplete": if missing records might tell which
// receive took which send. Empty if none are missing.
std::string incomplete_text(const Run& run, const Labels& labels, const Message& message);

// "73728 B (72.0 KiB)": never rounded only.
std::string bytes_text(std::uint64_t bytes);

// "rc_mlx5/mlx5_0:1 to mlx5_1:1": transport and device, and the other side's where it differs.
std::string way_text(const Run& run, const Hop& hop);

// "f (a.c:4), its receive in g (a.c:7)": the requesting lines. Empty without call stacks.
std::string call_sites_text(const Run& run, const Message& message);

// The libucp of its sides, one or "a to b"; empty unless one of its processes called several.
std::string libraries_text(const Run& run, const Message& message);

}  // namespace uctrace
