#include "log-merger/attribute/reasons.hpp"

#include <algorithm>

#include "log-merger/attribute/attribution.hpp"
#include "log-merger/attribute/wire_view.hpp"

namespace uctrace::merge {

namespace {

using wire::AmId;

constexpr std::uint64_t kFlushCancels = 1;  // UCT_FLUSH_FLAG_CANCEL

bool is_endpoint_check(const UctOp& op) {
  return is(op, AmId::wireup) && op.header.count > 0 &&
         (op.header.words[0] & 0xff) == wire::kWireupEndpointCheck;
}

}  // namespace

void Reasons::give_first() {
  open_.each_at_once([&](UctOp& op) {
    const Interface* interface = job_.logs[op.process].interface(op.interface);
    if (interface != nullptr && !interface->of_ucp) {
      give_reason(op, "direct_uct");  // evidence: who opened the interface
    } else if (op.op == log::UctOp::ep_check || is_endpoint_check(op)) {
      give_reason(op, "keepalive");  // evidence: it only asks whether the peer is alive
    } else if (is(op, AmId::wireup)) {
      give_reason(op, "wireup");  // evidence: the AM id
    }
  });
}

// Evidence: its flags, which cancel earlier posts; or that no UCP operation asked for it and the
// endpoint's destruction came next. If a connection fails while the program closes its endpoint,
// UCP discards the lower endpoints without such flags.
void Reasons::give_discards() {
  find_last_posts();
  open_.each_at_once([&](UctOp& op) {
    const bool cancels = op.op == log::UctOp::ep_flush && op.header.count > 0 &&
                         (op.header.words[0] & kFlushCancels) != 0;
    if (cancels || (op.origin_kind == log::Origin::none && ends_endpoint(op))) {
      give_reason(op, "endpoint_discard");
    }
  });
}

bool Reasons::ends_endpoint(const UctOp& op) {
  if (op.op != log::UctOp::ep_flush || op.endpoint_row == kNone) {
    return false;
  }
  const auto& endpoints = job_.logs[op.process].endpoints;
  return endpoints[op.endpoint_row].destroyed_tick != UINT64_MAX &&
         last_posts_[op.process][op.endpoint_row] == op.start_tick;
}

void Reasons::find_last_posts() {
  for (const ProcessLog& log : job_.logs) last_posts_.emplace_back(log.endpoints.size());
  each_process_of(job_, job_.uct.size(), &ProcessLog::uct_rows,
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) {
                      const UctOp& op = job_.uct[i];
                      if (!accepted(op) || op.endpoint_row == kNone) continue;
                      std::uint64_t& last = last_posts_[op.process][op.endpoint_row];
                      last = std::max(last, op.start_tick);
                    }
                  });
}

void Reasons::give_last() {
  open_.each_at_once([&](UctOp& op) {
    if (ends_endpoint(op)) {
      give_reason(op, "endpoint_discard");  // evidence: the endpoint's destruction came next
    } else if (is_flush(op)) {
      give_reason(op, "internal_flush");  // evidence: no UCP flush was in progress
    } else if (is_answer(op)) {
      give_reason(op, "remote_request");  // evidence: the AM id, which only answers requests
    }
  });
}

void Reasons::give_tool() {
  each_at_once(job_, [&](UctOp& op) {
    if (accepted(op) && op.serves != kNone && job_.ucp[op.serves].tool) {
      give_reason(op, "tool");  // evidence: when and where its UCP operation was called
    }
  });
}

}  // namespace uctrace::merge
