// Counters in the formats of other tools: the profiles of Open MPI's monitoring, for its scripts,
// and matrices.
#pragma once

#include <filesystem>
#include <vector>

#include "event-log/reader/counter_matrix.hpp"

namespace uctrace {

// Writes files of the counters of a job's processes, which must outlive it. The files have numbers
// instead of names (log::SideNumbers). If not all numbers are ranks, NAME.numbers.tsv beside them
// lists number and name, a line each.
//
// An existing file of the same kind is replaced, any other one is an Error.
class CounterExport {
 public:
  explicit CounterExport(const std::vector<log::CounterSnapshot>& job);

  // PREFIX.NUMBER.prof for each process with a number. Returns how many.
  std::size_t write_profs(const std::filesystem::path& prefix) const;
  // All of them, one after the other, in one file.
  void write_gathered(const std::filesystem::path& file) const;
  // PREFIX_msg_CLASS.mat, PREFIX_size_CLASS.mat and PREFIX_avg_CLASS.mat for each class that
  // occurs, and for the total: symmetric, as from Open MPI's profile2mat.pl; or
  // PREFIX_directed_..., with the sender as row and the receiver as column.
  void write_matrices(const std::filesystem::path& prefix, bool symmetric) const;

 private:
  void write_numbers(const std::filesystem::path& beside) const;

  const std::vector<log::CounterSnapshot>& job_;
  const log::CountedSides sides_;
  const log::CounterMatrix matrix_;
  const log::SideNumbers numbers_;
};

}  // namespace uctrace
