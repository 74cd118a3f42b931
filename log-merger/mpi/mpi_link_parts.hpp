// Shared by the parts of link_mpi(). Private to it.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "log-merger/job/job.hpp"
#include "log-merger/mpi/mpi_call_kind.hpp"
#include "log-merger/mpi/tag_layout.hpp"

namespace uctrace::merge {

class TraitsOfCalls {
 public:
  explicit TraitsOfCalls(const Job& job) : job_(job) {}

  const CallTraits& operator()(CallIndex call) {
    const TextId name = job_.calls[call].function;
    const auto [place, fresh] = known_.try_emplace(name);
    if (fresh) place->second = call_traits(job_.run.texts[name]);
    return place->second;
  }

 private:
  const Job& job_;
  std::unordered_map<TextId, CallTraits> known_;
};

// The messages of one collective operation on a communicator.
struct ScheduleKey {
  std::uint64_t context;
  std::int32_t tag;
  bool operator==(const ScheduleKey&) const = default;
};
struct ScheduleHash {
  std::size_t operator()(const ScheduleKey& key) const {
    return std::hash<std::uint64_t>{}(key.context << 32 ^ static_cast<std::uint32_t>(key.tag));
  }
};
inline ScheduleKey key_of(const DecodedTag& tag) { return {tag.context, tag.tag}; }

// Whether the other end of an operation may be the rank `peer` of the call's communicator.
bool may_be_with(const Job& job, const MpiCall& call, std::int32_t peer, const UcpOp& op);

// Compares tag and peer of a point-to-point call with those of the operation. Wildcards agree with
// all.
bool agrees(const Job& job, const MpiCall& call, std::int32_t peer, std::int32_t mpi_tag,
            const UcpOp& op, const DecodedTag& tag);

}  // namespace uctrace::merge
