// Counters in files of other tools: the profiles of Open MPI's monitoring, which its scripts read,
// and matrices.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "event-log/reader/counter_matrix.hpp"

namespace uctrace {

// The profile of one rank, from its processes in `job`.
void write_prof(std::ostream& out, const std::vector<log::CounterSnapshot>& job,
                const log::CounterMatrix& matrix, std::int32_t rank);

// PREFIX.RANK.prof for each rank. A file there that is a profile is replaced, any other one is an
// Error. Returns how many.
std::size_t write_profs(const std::filesystem::path& prefix,
                        const std::vector<log::CounterSnapshot>& job);
// All of them, one after the other, in one file.
void write_gathered(const std::filesystem::path& file,
                    const std::vector<log::CounterSnapshot>& job);

// PREFIX_msg_CLASS.mat, PREFIX_size_CLASS.mat and PREFIX_avg_CLASS.mat for each class that was met,
// and for all of them: what Open MPI's profile2mat.pl makes, which are symmetric; else
// PREFIX_directed_..., with the sender's row and the receiver's column. Returns their names.
std::vector<std::string> write_matrices(const std::filesystem::path& prefix,
                                        const log::CounterMatrix& matrix, bool symmetric);

}  // namespace uctrace
