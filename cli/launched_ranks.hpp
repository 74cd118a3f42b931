// Whether a launcher of MPI started this command several times, to merge together.
#pragma once

#include <string>

#include "log-merger/ranks/ranks.hpp"

namespace uctrace::cli {

// Starts and ends MPI if a launcher started several processes and this uctrace has the library for
// its MPI. A command started by a rank, for example through a script, runs alone: MPI would wait
// for processes that may never come.
class LaunchedRanks {
 public:
  LaunchedRanks();
  ~LaunchedRanks();
  LaunchedRanks(const LaunchedRanks&) = delete;
  LaunchedRanks& operator=(const LaunchedRanks&) = delete;

  const Ranks& ranks() const { return ranks_; }
  // Without a library for the MPI, the first process does the work and the others do nothing.
  bool is_idle() const { return is_idle_; }
  // Why several processes do not merge together; empty: they do, or there is one.
  const std::string& why_alone() const { return why_alone_; }

 private:
  void open(const char* mpi, const char* library, int others);

  Ranks ranks_;
  bool is_idle_ = false;
  std::string why_alone_;
};

}  // namespace uctrace::cli
