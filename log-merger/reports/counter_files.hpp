// Counters in files of other tools: the profiles of Open MPI's monitoring, which its scripts read,
// and matrices.
#pragma once

#include <filesystem>
#include <vector>

#include "event-log/reader/counter_matrix.hpp"

namespace uctrace {

// Files of what the processes of a job counted, which must outlive it. They hold numbers where the
// tables have names (log::SideNumbers). Where not all numbers are ranks, NAME.numbers.tsv beside
// them tells whose they are: a line each, the number and the name.
//
// A file of the same kind that lies there is replaced, any other one is an Error.
class CounterExport {
 public:
  explicit CounterExport(const std::vector<log::CounterSnapshot>& job);

  // PREFIX.NUMBER.prof for each process with a number. Returns how many.
  std::size_t write_profs(const std::filesystem::path& prefix) const;
  // All of them, one after the other, in one file.
  void write_gathered(const std::filesystem::path& file) const;
  // PREFIX_msg_CLASS.mat, PREFIX_size_CLASS.mat and PREFIX_avg_CLASS.mat for each class that was
  // met, and for all of them: what Open MPI's profile2mat.pl makes, which are symmetric; else
  // PREFIX_directed_..., with the sender's row and the receiver's column.
  void write_matrices(const std::filesystem::path& prefix, bool symmetric) const;

 private:
  void write_numbers(const std::filesystem::path& beside) const;

  const std::vector<log::CounterSnapshot>& job_;
  const log::CountedSides sides_;
  const log::CounterMatrix matrix_;
  const log::SideNumbers numbers_;
};

}  // namespace uctrace
