// Communicators of an archive: first one of all processes, then those of the run whose members are
// all known. Only otf2*.cpp include this.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace::exports {

class Otf2Communicators {
 public:
  static constexpr OTF2_CommRef kAll = 0;

  explicit Otf2Communicators(const Run& run);

  struct Entry {
    std::string name;
    OTF2_CommRef parent;                                     // or OTF2_UNDEFINED_COMM
    std::vector<std::uint64_t> members;                      // rows of processes, by rank
    std::unordered_map<std::uint32_t, std::uint32_t> ranks;  // by process
  };
  const std::vector<Entry>& all() const { return entries_; }

  // Of a row of Run::communicators; OTF2_UNDEFINED_COMM if it is not in the archive: it is an
  // intercommunicator, or a member is not known.
  OTF2_CommRef of(std::int32_t communicator) const;
  // The same if it contains both processes, else the one of all processes.
  OTF2_CommRef common(std::int32_t communicator, std::int32_t a, std::int32_t b) const;
  std::uint32_t rank(OTF2_CommRef comm, std::int32_t process) const;
  // The rank of a world rank among the members; OTF2_UNDEFINED_UINT32 if it is not a member.
  std::uint32_t rank_of_world_rank(OTF2_CommRef comm, std::int32_t world_rank) const;

 private:
  bool add(const Run& run, const Communicator& communicator);

  const Run& run_;
  std::vector<Entry> entries_;
  std::vector<OTF2_CommRef> of_row_;                             // by row of Run::communicators
  std::unordered_map<std::uint64_t, std::uint32_t> process_of_;  // by world and rank
};

}  // namespace uctrace::exports
