// Calls that make memory known to others, and what they cost: rows that log-merger/registration/
// makes. What they mean is in docs/registration.md.
//
// Times are nanoseconds on the job clock, -1 = not known.
#pragma once

#include <cstdint>

#include "log-merger/model/kinds.hpp"

namespace uctrace {

// log::MemoryAction, as tables name it.
enum class MemoryCallAction : std::uint8_t {
  none,
  registration,
  attachment,
  deregistration,
  key_packing,
  key_unpacking,
  key_release,
  mapping,
  unmapping,
  kernel_endpoint,
  kernel_memory,
  kernel_release,
};
const char* name_of(MemoryCallAction);

// A call of UCP's or UCT's that makes memory known to others, or ends that.
struct MemoryCallRow {
  std::uint32_t process = 0;
  std::uint32_t lane = 0;  // recording thread
  MemoryCallAction action = MemoryCallAction::none;
  Link link = Link::unattributed;           // how `message` was found
  MemoryKind memory = MemoryKind::unknown;  // that it is about
  std::int32_t gpu = -1;                    // whose; into gpus
  // Not made inside another such call, whose time it is a part of.
  bool outermost = false;
  // Made by a function that does the same by way of this one, with the same memory domain.
  bool repeats = false;
  // Of a registration: the domain had none of this memory before, nor of a part of it.
  bool first_use = false;
  TextId function = kNoText;
  TextId memory_domain = kNoText;  // of keys that are unpacked: the component; kNoText = of UCP
  TextId status = kNoText;         // UCS status name
  TextId asked_by = kNoText;       // MPI function that wanted the operation that it was made for
  std::int64_t message = -1;       // that it was made for; into messages
  std::int64_t call = -1;          // MPI call that it was made in; into mpi_calls
  std::uint64_t address = 0, bytes = 0;  // 0 = the call does not say which memory
  std::uint64_t key = 0;                 // handle of the registration, or the unpacked key
  std::int64_t t_start_ns = -1, t_end_ns = -1;
  std::int64_t t_until_ns = -1;  // of a registration: it was ended, -1 = it was never
};

// Calls of one function, with one memory domain, about memory of one kind, over all processes.
struct RegistrationSum {
  TextId memory_domain = kNoText, function = kNoText;  // as of a MemoryCallRow
  MemoryKind memory = MemoryKind::unknown;
  std::uint64_t calls = 0, failed = 0;
  std::uint64_t bytes = 0;  // of calls that succeeded and say which memory they are about
  // That succeeded; one that is made by way of another function counts once.
  std::uint64_t registrations = 0;
  std::uint64_t first_uses = 0;  // of these: of memory that the domain never had
  std::uint64_t messages = 0;    // that calls were made for
  std::int64_t ns = 0, max_ns = 0;
  std::int64_t own_ns = 0;           // of `ns`: of calls that are not made inside other such calls
  std::int64_t for_messages_ns = 0;  // of `own_ns`: of calls that were made for a message
};

// How often operations found their memory registered: of each process and memory domain.
struct RegistrationUse {
  std::uint32_t process = 0;
  TextId memory_domain = kNoText;
  std::uint64_t operations = 0;  // UCP operations that moved data without a copy in the domain
  std::uint64_t registered = 0;  // those that registered memory for it
  std::uint64_t live = 0;        // registrations that nobody ended
  std::uint64_t live_bytes = 0;  // of these
};

// What kernels on a GPU may use by themselves: an endpoint, or memory. What they move is not seen.
struct KernelAccessRow {
  std::uint32_t process = 0;
  std::int32_t peer_process = -1;  // at the other end of the endpoint, -1 = not known
  MemoryKind memory = MemoryKind::unknown;
  std::int32_t gpu = -1;                         // whose; into gpus
  TextId function = kNoText;                     // that gave it
  TextId transport = kNoText, device = kNoText;  // of a UCT endpoint; kNoText = UCP chooses
  std::uint64_t local_address = 0, remote_address = 0, bytes = 0;
  std::int64_t t_ns = -1;        // it was given
  std::int64_t t_until_ns = -1;  // it was released, -1 = it was never
};

}  // namespace uctrace
