// The datatypes of a process: the one that a handle named when a call used it. A part of MpiLoader.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

class DatatypeLoader {
 public:
  explicit DatatypeLoader(Job& job) : job_(job) {}

  // In any order; call finish() before the first query.
  void take(const log::DatatypeView& view);
  void take_end(std::uint64_t handle, std::uint64_t tick);
  void finish();

  // The row of Run::datatypes that a call begun at `tick` used under this handle; kNone: none.
  DatatypeIndex at(std::uint64_t handle, std::uint64_t tick) const;

 private:
  struct Definition {
    std::uint64_t handle, tick;
    std::uint64_t end_tick;  // its handle was given up
    DatatypeIndex row;
  };
  struct End {
    std::uint64_t handle, tick;
  };

  Job& job_;
  Rows<Definition> definitions_;
  std::vector<End> ends_;
};

}  // namespace uctrace::merge
