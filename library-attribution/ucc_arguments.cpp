#include "library-attribution/ucc_arguments.hpp"

#include <atomic>
#include <cstddef>

#include "event-log/format/ucc_operations.hpp"
#include "interpose/fork_lock.hpp"

namespace uctrace::library {
namespace {

using log::UccOperation;

// --- ucc.h ---------------------------------------------------------------------------------------

struct Buffer {
  void* buffer;
  std::uint64_t count;
  std::uint64_t datatype;
  std::int32_t memory_type;
};
struct BufferOfEach {
  void* buffer;
  const void* counts;  // of 64 bits with kWideCounts, else of 32
  const void* displacements;
  std::uint64_t datatype;
  std::int32_t memory_type;
};
union Side {
  Buffer one;
  BufferOfEach each;
};
struct CollectiveArguments {
  std::uint64_t mask;
  std::uint32_t type;
  Side source, destination;
  std::uint32_t reduction;
  std::uint64_t flags;
  std::uint64_t root;
};
static_assert(offsetof(CollectiveArguments, source) == 16 &&
              offsetof(CollectiveArguments, destination) == 56 &&
              offsetof(CollectiveArguments, flags) == 104 &&
              offsetof(CollectiveArguments, root) == 112);
constexpr std::uint64_t kHasFlags = 1;  // of the mask
constexpr std::uint64_t kInPlace = 1, kWideCounts = 4;

struct TeamParams {
  std::uint64_t mask, flags;
  std::uint32_t ordering;
  std::uint64_t outstanding, ep;
  void* ep_list;
  std::uint32_t ep_range;
  std::uint64_t team_size;
  std::uint32_t sync_type;
  struct {
    void *allgather, *test, *free, *info;
    std::uint32_t eps, ep;
  } oob;
};
static_assert(offsetof(TeamParams, ep) == 32 && offsetof(TeamParams, team_size) == 56 &&
              offsetof(TeamParams, oob.eps) == 104);
static_assert(offsetof(TeamParams, ep_range) == 48);
constexpr std::uint64_t kHasEp = 1 << 2, kHasEpRange = 1 << 4, kHasTeamSize = 1 << 5,
                        kHasOob = 1 << 7;
constexpr std::uint32_t kContiguous = 0;  // of ep_range

struct Event {
  std::uint32_t type;
  void* context;
  std::size_t context_bytes;
  std::uint64_t request;
};

// Of UCC's own datatypes, in the order of their numbers. Others have their lowest bits set.
constexpr std::uint8_t kElementBytes[] = {1,  2, 4, 8, 16, 1,  2, 4,  8,
                                          16, 2, 4, 8, 2,  16, 8, 16, 32};
constexpr unsigned kDatatypeShift = 3;

// 0: not known
std::uint64_t element_bytes(std::uint64_t datatype) {
  const std::uint64_t number = datatype >> kDatatypeShift;
  const bool is_ucc_own = (datatype & ((1u << kDatatypeShift) - 1)) == 0;
  return is_ucc_own && number < sizeof kElementBytes ? kElementBytes[number] : 0;
}

// --- teams ---------------------------------------------------------------------------------------

struct Team {
  std::uint32_t size;
  std::int64_t ep;  // this process in it
};
constexpr Team kUnknownTeam = {0, -1};

struct TeamEntry {
  std::atomic<std::uint64_t> handle;  // stored last
  std::atomic<std::uint32_t> size;
  std::atomic<std::int64_t> ep;
};
constexpr std::size_t kTeams = 256, kProbes = 8;
constinit TeamEntry teams[kTeams]{};
constinit interpose::ForkLock teams_lock{};  // of those who change the table

// What has no room is not known. A handle is looked up between its team's making and end only, so
// its entry does not change meanwhile.
TeamEntry* entry_of(std::uint64_t handle, std::uint64_t wanted) {
  constexpr unsigned kAlignmentBits = 4;
  for (std::size_t i = 0; i < kProbes; ++i) {
    TeamEntry& entry = teams[((handle >> kAlignmentBits) + i) % kTeams];
    if (entry.handle.load(std::memory_order_acquire) == wanted) return &entry;
  }
  return nullptr;
}

Team team_of(std::uint64_t handle) {
  const TeamEntry* entry = entry_of(handle, handle);
  if (entry == nullptr) return kUnknownTeam;
  return {entry->size.load(std::memory_order_relaxed), entry->ep.load(std::memory_order_relaxed)};
}

// --- bytes ---------------------------------------------------------------------------------------

struct Bytes {
  std::uint64_t count;
  bool is_known;
};
constexpr Bytes kNoBytes = {0, true}, kUnknownBytes = {0, false};

class Amounts {
 public:
  Amounts(const CollectiveArguments& arguments, const Team& team)
      : arguments_(arguments),
        team_(team),
        flags_((arguments.mask & kHasFlags) != 0 ? arguments.flags : 0) {}

  bool in_place() const { return (flags_ & kInPlace) != 0; }
  bool is_root() const {
    return team_.ep >= 0 && arguments_.root == static_cast<std::uint64_t>(team_.ep);
  }
  bool knows_root() const { return team_.ep >= 0; }

  Bytes one(const Side& side) const { return of(side.one.datatype, side.one.count); }
  // Of a buffer with a part for each member: this one's.
  Bytes part(const Side& side) const {
    return team_.size != 0 ? of(side.one.datatype, side.one.count / team_.size) : kUnknownBytes;
  }
  Bytes own(const BufferOfEach& each) const {
    if (team_.ep < 0 || each.counts == nullptr) return kUnknownBytes;
    return of(each.datatype, at(each, static_cast<std::uint64_t>(team_.ep)));
  }
  Bytes sum(const BufferOfEach& each) const {
    if (team_.size == 0 || each.counts == nullptr) return kUnknownBytes;
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; i < team_.size; ++i) count += at(each, i);
    return of(each.datatype, count);
  }

 private:
  std::uint64_t at(const BufferOfEach& each, std::uint64_t i) const {
    return (flags_ & kWideCounts) != 0 ? static_cast<const std::uint64_t*>(each.counts)[i]
                                       : static_cast<const std::uint32_t*>(each.counts)[i];
  }
  static Bytes of(std::uint64_t datatype, std::uint64_t count) {
    const std::uint64_t bytes = element_bytes(datatype);
    return count == 0 || bytes != 0 ? Bytes{count * bytes, true} : kUnknownBytes;
  }

  const CollectiveArguments& arguments_;
  const Team team_;
  const std::uint64_t flags_;
};

// With "in place" the arguments of the other side replace the missing ones, as in MPI.
Bytes put_in(UccOperation operation, const CollectiveArguments& arguments, const Team& team) {
  const Amounts amounts(arguments, team);
  const Side &source = arguments.source, &destination = arguments.destination;
  switch (operation) {
    case UccOperation::barrier:
    case UccOperation::fanin:
    case UccOperation::fanout:
      return kNoBytes;
    case UccOperation::allgather:
      return amounts.in_place() ? amounts.part(destination) : amounts.one(source);
    case UccOperation::allgatherv:
      return amounts.in_place() ? amounts.own(destination.each) : amounts.one(source);
    case UccOperation::allreduce:
    case UccOperation::alltoall:
    case UccOperation::reduce_scatter:
      return amounts.one(amounts.in_place() ? destination : source);
    case UccOperation::reduce_scatterv:
      return amounts.in_place() ? amounts.sum(destination.each) : amounts.one(source);
    case UccOperation::alltoallv:
      return amounts.sum(amounts.in_place() ? destination.each : source.each);
    default:
      break;
  }
  if (!amounts.knows_root()) return kUnknownBytes;
  const bool replaced = amounts.in_place() && amounts.is_root();
  switch (operation) {
    case UccOperation::bcast:
    case UccOperation::scatter:
      return amounts.is_root() ? amounts.one(source) : kNoBytes;
    case UccOperation::scatterv:
      return amounts.is_root() ? amounts.sum(source.each) : kNoBytes;
    case UccOperation::reduce:
      return amounts.one(replaced ? destination : source);
    case UccOperation::gather:
      return replaced ? amounts.part(destination) : amounts.one(source);
    case UccOperation::gatherv:
      return replaced ? amounts.own(destination.each) : amounts.one(source);
    default:
      return kUnknownBytes;
  }
}

bool has_root(UccOperation operation) {
  return operation == UccOperation::bcast || operation == UccOperation::fanin ||
         operation == UccOperation::fanout || operation == UccOperation::gather ||
         operation == UccOperation::gatherv || operation == UccOperation::reduce ||
         operation == UccOperation::scatter || operation == UccOperation::scatterv;
}

}  // namespace

UccArguments read_ucc_arguments(const void* pointer, std::uint64_t team) {
  const auto& arguments = *static_cast<const CollectiveArguments*>(pointer);
  const std::uint32_t bit = arguments.type;
  const bool is_known =
      __builtin_popcount(bit) == 1 && bit < 1u << static_cast<unsigned>(UccOperation::kCount);
  if (!is_known) return {0, kUctraceNoPeer, UccArguments::kNoOperation, false};
  const auto operation = static_cast<UccOperation>(__builtin_ctz(bit));
  const Bytes bytes = put_in(operation, arguments, team_of(team));
  const std::int32_t root =
      has_root(operation) ? static_cast<std::int32_t>(arguments.root) : kUctraceNoPeer;
  return {bytes.count, root, static_cast<std::uint32_t>(operation), bytes.is_known};
}

void remember_ucc_team(std::uint64_t team, const void* pointer) {
  const auto& params = *static_cast<const TeamParams*>(pointer);
  const bool has_oob = (params.mask & kHasOob) != 0;
  const interpose::Held held(teams_lock);
  TeamEntry* entry = entry_of(team, team);
  if (entry == nullptr) entry = entry_of(team, 0);
  if (entry == nullptr) return;
  // As UCC has it: endpoints are the members' numbers only if they are said to be contiguous.
  const bool has_ep = (params.mask & kHasEp) != 0 && (params.mask & kHasEpRange) != 0 &&
                      params.ep_range == kContiguous;
  const std::uint32_t size = has_oob ? params.oob.eps
                             : (params.mask & kHasTeamSize) != 0
                                 ? static_cast<std::uint32_t>(params.team_size)
                                 : 0;
  const std::uint64_t ep = has_ep ? params.ep : has_oob ? params.oob.ep : UINT64_MAX;
  entry->size = size;
  entry->ep = ep < size ? static_cast<std::int64_t>(ep) : -1;
  entry->handle.store(team, std::memory_order_release);
}

void forget_ucc_team(std::uint64_t team) {
  const interpose::Held held(teams_lock);
  if (TeamEntry* entry = entry_of(team, team)) entry->handle.store(0, std::memory_order_release);
}

std::uint64_t request_of_ucc_event(const void* event) {
  return static_cast<const Event*>(event)->request;
}

}  // namespace uctrace::library
