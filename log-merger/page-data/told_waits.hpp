// The waits of MPI calls that a page, or a tile, lists one by one (docs/page-data.md#waits).
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
  // The fields that add() reads.
  static Wanted<Wait> of_waits() {
    return {&Wait::kind, &Wait::unknown,    &Wait::cause_process, &Wait::call,
            &Wait::ns,   &Wait::t_start_ns, &Wait::unknown_ns};
  }

  // Adds a wait of `call`, which has this place among the listed calls. A completion moves data:
  // that is no wait, and left out.
  void add(std::int64_t place, const MpiCallRow& call, const Wait& wait);
  // The table `waits`, by call and start.
  PackedTable table();

 private:
  // If `unknown` says why, it is not known whether `ns` was waiting.
  struct ToldWait {
    std::int64_t call, since_start_ns, ns, cause, kind, unknown;

    // By all fields: tables that are made of the same waits are the same.
    auto order() const { return std::tie(call, since_start_ns, ns, cause, kind, unknown); }
  };
  std::vector<ToldWait> waits_;
};

}  // namespace uctrace
