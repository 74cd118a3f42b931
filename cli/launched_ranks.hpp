// Whether a launcher of MPI started this command several times, to merge together.
#pragma once

#include <string>

#include "log-merger/ranks/ranks.hpp"

namespace uctrace::cli {

// Begins MPI where a launcher started this process and others, and this uctrace has the library for
// its MPI; and ends it. A command that was started by a rank, as by a script that the launcher
// started, is alone: MPI would wait there for processes that may never come.
class LaunchedRanks {
 public:
  LaunchedRanks();
  ~LaunchedRanks();
  LaunchedRanks(const LaunchedRanks&) = delete;
  LaunchedRanks& operator=(const LaunchedRanks&) = delete;

  const Ranks& ranks() const { return ranks_; }
  // Without a library for its MPI the first process does the work, and the others nothing.
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
