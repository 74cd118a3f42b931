#include "log-merger/attribute/protocol.hpp"

#include <string_view>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/attribute/wire_view.hpp"
#include "log-merger/model/ucs_names.hpp"

namespace uctrace::merge {

namespace {

using wire::AmId;

// "am_bcopy" -> "bcopy".
std::string_view copy_kind(log::UctOp op) {
  if (op == log::UctOp::am_short_iov) {
    return "short";
  }
  const std::string_view name = uct_op_name(op);
  return name.substr(name.rfind('_') + 1);
}

std::string_view family(log::UctOp op) {
  const std::string_view name = uct_op_name(op);
  return name.substr(0, name.find('_'));
}

std::string one_sided_protocol(const Job& job, const UcpOp& initiator,
                               std::span<const UctIndex> ops) {
  for (const UctIndex i : ops) {
    const UctOp& op = job.uct[i];
    if (op.status < 0 || !op.has_range) {
      continue;
    }
    if (initiator.is(log::UcpFamily::atomic)) {
      const std::string result = initiator.reply_buffer != 0 ? "/fetch" : "/post";
      return is_atomic(op) ? "amo" + std::to_string(8 * initiator.bytes) + result
                           : "amo" + result + "/sw";
    }
    const std::string name = initiator.is(log::UcpFamily::put) ? "put/" : "get/";
    return name + (op.am_id == 0 ? "offload/" : "am/") + std::string(copy_kind(op.op));
  }
  return "";
}

std::string two_sided_protocol(const Job& job, const UcpOp* send, std::span<const UctIndex> ops,
                               std::uint64_t bytes) {
  bool rendezvous = false, sync = false, acknowledged = false;
  const UctOp* data = nullptr;
  std::size_t eager_fragments = 0;
  for (const UctIndex i : ops) {
    const UctOp& op = job.uct[i];
    if (op.status < 0) {
      continue;
    }
    switch (wire::kind_of(op.am_id)) {
      case AmId::rndv_rts:
        rendezvous = true;
        break;
      case AmId::rndv_ats:
        acknowledged = true;
        break;
      case AmId::eager_sync_only:
      case AmId::eager_sync_first:
        sync = true;
        [[fallthrough]];
      case AmId::eager_only:
      case AmId::eager_first:
      case AmId::eager_middle:
      case AmId::am_single:
      case AmId::am_single_reply:
      case AmId::am_first:
      case AmId::am_middle:
      case AmId::stream_data:
        ++eager_fragments;
        break;
      default:
        break;
    }
    const bool announces = is(op, AmId::rndv_rts) && op.op != log::UctOp::tag_rndv_zcopy;
    if (op.has_range && !announces && (data == nullptr || op.bytes > data->bytes)) {
      data = &op;
    }
  }
  if (rendezvous) {
    if (data == nullptr) {
      return bytes > 0 && acknowledged ? kRkeyPtr : "rndv";
    }
    if (data->op == log::UctOp::tag_rndv_zcopy) {
      return "rndv/offload/zcopy";
    }
    if (send != nullptr && data->fetches() && data->process == send->process &&
        !is_to_itself(job, *send)) {
      return "rndv/put/mapped";  // from the sender's own GPU into the receiver's memory
    }
    return "rndv/" + std::string(family(data->op)) + "/" + std::string(copy_kind(data->op));
  }
  if (data == nullptr) {
    return "";
  }
  if (eager_fragments == 0) {
    return std::string(is_tag_eager_sync(*data) ? "offload-sync/" : "offload/") +
           std::string(copy_kind(data->op));
  }
  const std::string eager = sync ? "eager-sync/" : "eager/";
  return eager + (eager_fragments > 1 ? "multi/" : "") + std::string(copy_kind(data->op));
}

}  // namespace

TextId told_protocol(const Job& job, std::span<const UctIndex> ops) {
  const UctOp* data = nullptr;
  const UctOp* last = nullptr;
  for (const UctIndex i : ops) {
    const UctOp& op = job.uct[i];
    if (op.status < 0 || is(op, AmId::rndv_rts)) {
      continue;
    }
    if (op.has_range && (data == nullptr || op.bytes > data->bytes)) {
      data = &op;
    }
    last = op.protocol != 0 ? &op : last;
  }
  const UctOp* telling = data != nullptr ? data : last;
  return telling == nullptr ? kNoText : job.logs[telling->process].protocols[telling->protocol];
}

std::string derive_protocol(const Job& job, const UcpOp* initiator, std::span<const UctIndex> ops,
                            std::uint64_t bytes) {
  if (initiator != nullptr && initiator->is_one_sided()) {
    return one_sided_protocol(job, *initiator, ops);
  }
  const std::string protocol = two_sided_protocol(job, initiator, ops, bytes);
  if (initiator != nullptr && initiator->is_stream() && protocol.starts_with("eager/")) {
    return "stream/" + protocol.substr(protocol.find('/') + 1);
  }
  const bool is_am = initiator != nullptr && initiator->is(log::UcpFamily::am_send);
  return is_am && !protocol.empty() ? "am/" + protocol : protocol;
}

}  // namespace uctrace::merge
