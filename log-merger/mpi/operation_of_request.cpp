#include "log-merger/mpi/operation_of_request.hpp"

#include "log-merger/mpi/mpi_link_parts.hpp"

namespace uctrace::merge {

namespace {

// Compares the tag or source wanted by an open receive with that of its maker.
bool is_same(std::int32_t low, std::int32_t high, std::int32_t asked) {
  if (asked == log::MpiCall::kNone) return true;
  return low == high ? asked == low : asked == log::MpiCall::kAny;
}

}  // namespace

bool may_be_for(const Job& job, const UcpOp& op, const MpiCall& maker) {
  if (op.comm != kNone && maker.comm != kNone && op.comm != maker.comm) return false;
  const MpiFlavour flavour = job.logs[op.process].flavour;
  if (op.is_send() || op.received()) {
    const auto tag = decode_tag(flavour, op.is_send() ? op.tag : op.sender_tag);
    if (tag && !agrees(job, maker, maker.peer, maker.tag, op, *tag)) return false;
  } else {
    const auto low = decode_tag(flavour, op.tag & op.tag_mask),
               high = decode_tag(flavour, op.tag | ~op.tag_mask);
    if (low && high &&
        (!is_same(low->tag, high->tag, maker.tag) ||
         !is_same(low->source, high->source, maker.peer))) {
      return false;
    }
  }
  const CallTraits traits = call_traits(job.run.texts[maker.function]);
  return op.is_send() ? traits.sends : traits.receives;
}

}  // namespace uctrace::merge
