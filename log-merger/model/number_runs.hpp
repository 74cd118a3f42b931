// Lists of ranks for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace uctrace {

// "0-2, 7", for ascending numbers: at most eight runs. "0-2, 7 and 3 more": `unnamed` ones are only
// counted, or there are more runs.
std::string number_runs(const std::vector<std::int64_t>& numbers, std::uint64_t unnamed = 0);

}  // namespace uctrace
