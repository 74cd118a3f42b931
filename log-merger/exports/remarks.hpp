// What an export says of the run besides its rows.
#pragma once

#include <string>
#include <vector>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace::exports {

// Processes whose logs are not whole, messages without a known or certain peer, and the notes of
// the run: each one line.
std::vector<std::string> remarks_on(const RowSource& source);

// "rank 3 node1 pid 4711"; of what is no rank, or in a spawned world, what it is.
std::string name_of_process(const Run& run, const Process& process);

// "3 messages": with the plural where it is one.
std::string counted(std::uint64_t count, const char* singular);

}  // namespace uctrace::exports
