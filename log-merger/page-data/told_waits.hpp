// The waits of MPI calls that a page, or a tile, tells singly (docs/page-data.md#waits).
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/page-data/packed_table.hpp"
#include "log-merger/row-source/wanted.hpp"

namespace uctrace {

class ToldWaits {
 public:
  // What add() looks at.
  static Wanted<Wait> of_waits() {
    return {&Wait::kind, &Wait::unknown,    &Wait::cause_process, &Wait::call,
            &Wait::ns,   &Wait::t_start_ns, &Wait::unknown_ns};
  }

  // Of `call`, which has this place among the calls that are told. In a completion data moves: that
  // is no wait, and left out.
  void add(std::int64_t place, const MpiCallRow& call, const Wait& wait);
  // `waits`, by call and start.
  PackedTable table();

 private:
  // `ns` may have been waiting where `unknown` says why that is open.
  struct ToldWait {
    std::int64_t call, since_start_ns, ns, cause, kind, unknown;

    // Of all: tables that are made of the same waits are the same.
    auto order() const { return std::tie(call, since_start_ns, ns, cause, kind, unknown); }
  };
  std::vector<ToldWait> waits_;
};

}  // namespace uctrace
