// The processes of a parallel merge: `mpirun -n N uctrace merge`. All make the same calls in the
// same order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "log-merger/ranks/ranks_plugin.h"

namespace uctrace {

class Ranks {
 public:
  using Bytes = std::vector<std::uint8_t>;

  // One process alone: every exchange is with itself.
  Ranks() = default;
  // nullptr: alone.
  explicit Ranks(const uctrace_ranks* plugin) : plugin_(plugin) {}

  std::size_t rank() const {
    return plugin_ != nullptr ? static_cast<std::size_t>(plugin_->rank) : 0;
  }
  std::size_t size() const {
    return plugin_ != nullptr ? static_cast<std::size_t>(plugin_->size) : 1;
  }
  bool is_first() const { return rank() == 0; }
  // How many run on this host, including this one.
  std::size_t on_this_host() const {
    return plugin_ != nullptr ? static_cast<std::size_t>(plugin_->on_this_host) : 1;
  }

  // On the first rank the bytes of each, by rank; on the others nothing.
  std::vector<Bytes> gather(std::span<const std::uint8_t> bytes) const;
  // The first rank's text, on all ranks.
  std::string from_first(std::string text) const;
  // Whether all ranks give the same.
  bool all_same(std::uint64_t value) const;
  // The lowest rank with true; size(): none.
  std::size_t first_that(bool says_so) const;

  // Nothing is exchanged any more.
  void end() const;
  // Ends all ranks with this exit status, if the others wait for something that will not come.
  void abort(int status) const;

 private:
  void check(int error) const;

  const uctrace_ranks* plugin_ = nullptr;
};

}  // namespace uctrace
