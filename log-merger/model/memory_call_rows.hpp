// Registration calls and their costs: rows made by log-merger/registration/, explained in
// docs/registration.md.
//
// Times are nanoseconds on the job clock, -1 = not known.
#pragma once

#include <cstdint>

#include "log-merger/model/kinds.hpp"

namespace uctrace {

// log::MemoryAction under the names used in tables.
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

// A call of UCP or UCT that registers memory, or ends a registration.
struct MemoryCallRow {
  std::uint32_t process = 0;
  std::uint32_t lane = 0;  // recording thread
  MemoryCallAction action = MemoryCallAction::none;
  Link link = Link::unattributed;           // how `message` was found
  MemoryKind memory = MemoryKind::unknown;  // of the memory
  std::int32_t gpu = -1;                    // whose; into gpus
  // Not made inside another such call. A nested call's time is part of the outer one's.
  bool outermost = false;
  // Made by a function that does the same through this one, with the same memory domain.
  bool repeats = false;
  // For a registration: the domain had never registered any part of this memory before.
  bool first_use = false;
  TextId function = kNoText;
  TextId memory_domain = kNoText;        // for unpacked keys: the component; kNoText = UCP's
  TextId status = kNoText;               // UCS status name
  TextId asked_by = kNoText;             // MPI function that requested its operation
  std::int64_t message = -1;             // that needed it; into messages
  std::int64_t call = -1;                // enclosing MPI call; into mpi_calls
  std::uint64_t address = 0, bytes = 0;  // 0 = the call does not say which memory
  std::uint64_t key = 0;                 // handle of the registration, or the unpacked key
  std::int64_t t_start_ns = -1, t_end_ns = -1;
  std::int64_t t_until_ns = -1;  // end of a registration, -1 = never
};

// Calls of one function, with one memory domain, about memory of one kind, over all processes.
struct RegistrationSum {
  TextId memory_domain = kNoText, function = kNoText;  // as of a MemoryCallRow
  MemoryKind memory = MemoryKind::unknown;
  std::uint64_t calls = 0, failed = 0;
  std::uint64_t bytes = 0;  // of successful calls that name their memory
  // Successful ones; a call that goes through another function counts once.
  std::uint64_t registrations = 0;
  std::uint64_t first_uses = 0;  // of these: of memory new to the domain
  std::uint64_t messages = 0;    // that needed such calls
  std::int64_t ns = 0, max_ns = 0;
  std::int64_t own_ns = 0;           // part of `ns` in calls that are not nested
  std::int64_t for_messages_ns = 0;  // part of `own_ns` in calls for messages
};

// How often operations found their memory registered, by process and memory domain.
struct RegistrationUse {
  std::uint32_t process = 0;
  TextId memory_domain = kNoText;
  std::uint64_t operations = 0;  // UCP operations that moved data without a copy in the domain
  std::uint64_t registered = 0;  // those that registered memory for it
  std::uint64_t live = 0;        // registrations that nobody ended
  std::uint64_t live_bytes = 0;  // of these
};

// What GPU kernels may use directly: an endpoint, or memory. Their transfers cannot be seen.
struct KernelAccessRow {
  std::uint32_t process = 0;
  std::int32_t peer_process = -1;  // at the other end of the endpoint, -1 = not known
  MemoryKind memory = MemoryKind::unknown;
  std::int32_t gpu = -1;                         // whose; into gpus
  TextId function = kNoText;                     // that granted it
  TextId transport = kNoText, device = kNoText;  // for a UCT endpoint; kNoText = chosen by UCP
  std::uint64_t local_address = 0, remote_address = 0, bytes = 0;
  std::int64_t t_ns = -1;        // it was given
  std::int64_t t_until_ns = -1;  // it was released, -1 = it was never
};

}  // namespace uctrace
