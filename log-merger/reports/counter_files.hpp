// Counters in files of other tools: the profiles of Open MPI's monitoring, which its scripts read,
// and matrices.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "event-log/reader/counter_matrix.hpp"

namespace uctrace {

// These files hold numbers where the tables have names (log::SideNumbers). Where not all numbers
// are ranks, PREFIX.numbers.tsv (FILE.numbers.tsv) beside them tells which numbers are whose: a
// line each, the number and the name.
//
// A file of the same kind that lies there is replaced, any other one is an Error.

// PREFIX.NUMBER.prof for each process with a number. Returns how many.
std::size_t write_profs(const std::filesystem::path& prefix,
                        const std::vector<log::CounterSnapshot>& job);
// All of them, one after the other, in one file.
void write_gathered(const std::filesystem::path& file,
                    const std::vector<log::CounterSnapshot>& job);

// PREFIX_msg_CLASS.mat, PREFIX_size_CLASS.mat and PREFIX_avg_CLASS.mat for each class that was met,
// and for all of them: what Open MPI's profile2mat.pl makes, which are symmetric; else
// PREFIX_directed_..., with the sender's row and the receiver's column. Returns their names.
std::vector<std::string> write_matrices(const std::filesystem::path& prefix,
                                        const std::vector<log::CounterSnapshot>& job,
                                        bool symmetric);

}  // namespace uctrace
