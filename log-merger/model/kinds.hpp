// The discriminators of a run's rows: texts, kinds, and places of memory.
#pragma once

#include <compare>
#include <cstdint>

namespace uctrace {

using TextId = std::uint32_t;
inline constexpr TextId kNoText = 0;                // texts[0] is "", shown as null
inline constexpr TextId kUnknownText = UINT32_MAX;  // no row of texts

enum class MessageKind : std::uint8_t { tag, am, stream, put, get, atomic };
// `outside_window`: its partner may be among the events excluded by the user.
enum class Match : std::uint8_t { exact, inferred, ambiguous, unmatched, outside_window };
inline constexpr Match kMatches[] = {Match::exact, Match::inferred, Match::ambiguous,
                                     Match::unmatched, Match::outside_window};
enum class Side : std::uint8_t { src, dst };
enum class Role : std::uint8_t { data, control, staging };
inline constexpr MessageKind kMessageKinds[] = {MessageKind::tag,    MessageKind::am,
                                                MessageKind::stream, MessageKind::put,
                                                MessageKind::get,    MessageKind::atomic};
inline constexpr Role kRoles[] = {Role::data, Role::control, Role::staging};
// The event whose clock reading a time is. The shims read the clock once for things that happen
// together.
enum class TimeFrom : std::uint8_t {
  clock,     // its own
  mpi_call,  // the start, or end, of the enclosing MPI call
  arrival,   // of the short message that ended it
  post,      // of a short transfer, which ended before the clock could be read
};
const char* name_of(TimeFrom);

enum class ProtocolFrom : std::uint8_t { none, ucx, derived };
enum class MemoryKind : std::uint8_t { unknown, host, gpu, managed };
inline constexpr MemoryKind kMemoryKinds[] = {MemoryKind::unknown, MemoryKind::host,
                                              MemoryKind::gpu, MemoryKind::managed};
// Where memory is. `gpu`: into Run::gpus, -1 = none, or not known. Managed memory moves between
// host and devices; its GPU is the one where it was allocated.
struct MemoryPlace {
  MemoryKind kind = MemoryKind::unknown;
  std::int32_t gpu = -1;
  auto operator<=>(const MemoryPlace&) const = default;
};
inline constexpr MemoryPlace kHostPlace{MemoryKind::host, -1};
// How a UCT operation was tied to the UCP operation it serves. `reason`: it serves none, for one of
// the closed list of reasons in Transfer::reason. `unattributed`: an open question, counted.
enum class Link : std::uint8_t { exact, inferred, ambiguous, reason, unattributed };

const char* name_of(MessageKind);
const char* name_of(Match);
const char* name_of(Side);
const char* name_of(Role);
const char* name_of(ProtocolFrom);
const char* name_of(MemoryKind);
const char* name_of(Link);

}  // namespace uctrace
