// Which part of its message a UCT operation carried. Header sizes come from the AM id and the
// version of the wire protocol, never from a subtraction that forces the sums to fit.
#pragma once

#include <cstdint>
#include <span>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Whether sender and receiver are the same process.
bool is_to_itself(const Job& job, const UcpOp& send);

// After find_payload().
Role role_of(const UctOp& op);

// Sets the range of every operation of one message, by the offsets in their headers and the buffer
// addresses in its RTS or RTR.
void find_payload(Job& job, std::span<const UctIndex> ops);

// Bytes of the message that the operation carried; 0 for control messages.
std::uint64_t payload_bytes(const UctOp& op);

// Bytes covered by at least one of the operations: n log n in their number.
std::uint64_t covered_bytes(const Job& job, std::span<const UctIndex> ops);

}  // namespace uctrace::merge
