// The name of the protocol that UCP chose for a message. Protocols v2 have names, recorded with
// their posts. Protocols v1 have none, and the short path in a UCP call bypasses protocols. For
// these the name is derived from the operations, in the words of the UCX manual:
//   eager/short, eager/bcopy, eager/zcopy one active message eager/multi/bcopy, eager/multi/zcopy
//   several eager-sync/... the same, answered when matched rndv/get/zcopy, rndv/put/zcopy,
//   rndv/am/bcopy announced first; then fetched, written, sent rndv/rkey_ptr announced; the
//   receiver's CPU copies mapped memory offload/... tag matching in the device am/eager/...,
//   am/rndv/... the same for active messages of the program put/offload/zcopy, get/offload/bcopy,
//   ... by the transport itself put/am/bcopy, get/am/bcopy by active messages that the target's CPU
//   executes amo64/post, amo32/fetch; amo/post/sw, amo/fetch/sw atomics, likewise
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// UCP's own name: that of the operation that carried most data, else of the last one that is not an
// announcement. kNoText: there is none.
TextId told_protocol(const Job& job, std::span<const UctIndex> ops);

inline constexpr char kRkeyPtr[] = "rndv/rkey_ptr";

// For tag messages, and for active messages, whose names begin with "am/".
inline bool is_rkey_ptr(std::string_view protocol) { return protocol.ends_with(kRkeyPtr); }

// "" if the operations show none. `initiator`: the UCP operation of the message, nullptr if its
// process left no log.
std::string derive_protocol(const Job& job, const UcpOp* initiator, std::span<const UctIndex> ops,
                            std::uint64_t bytes);

}  // namespace uctrace::merge
