// An export's remarks on the run, besides its rows.
#pragma once

#include <string>
#include <vector>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace::exports {

// Processes with incomplete logs, messages without a known or certain peer, and the notes of the
// run: one line each.
std::vector<std::string> remarks_on(const RowSource& source);

// "rank 3 node1 pid 4711"; says so if it is not a rank, or in a spawned world.
std::string name_of_process(const Run& run, const Process& process);

// "1 message", "3 messages".
std::string counted(std::uint64_t count, const char* singular);

}  // namespace uctrace::exports
