#include "log-merger/rows/message_paths.hpp"

#include <algorithm>
#include <bitset>
#include <deque>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/attribute/protocol.hpp"
#include "log-merger/model/ucs_names.hpp"
#include "log-merger/rows/hops.hpp"
#include "log-merger/rows/row_maker.hpp"

namespace uctrace::merge {

namespace {

// A range of messages. Hops are also ordered by text ids, so all texts get their ids before any hop
// is made.
class PathsOfPart : RowMaker {
 public:
  PathsOfPart(Job& job, const std::vector<UcpIndex>& initiators, std::size_t begin, std::size_t end,
              NewTexts& texts)
      : RowMaker(job, texts), initiators_(initiators), texts_(texts), begin_(begin), end_(end) {}

  // Finds the data of each operation, the protocol, and the texts of hops.
  void name() {
    for (std::size_t i = begin_; i < end_; ++i) {
      Message& message = run_.messages[i];
      const std::span<const UctIndex> ops = job_.operations_of.of(MessageIndex(i));
      find_payload(job_, ops);
      const UcpOp* began = initiator(i);
      if (began != nullptr && began->is_one_sided()) {
        end_with_transfers(message, *began, ops);
      }
      const bool copied_by_cpu = name_protocol(message, began, ops);
      meet_operations(ops, copied_by_cpu);
    }
  }

  void lay_out() {
    for (std::size_t i = begin_; i < end_; ++i) {
      Message& message = run_.messages[i];
      texts_.settle(message.status);
      texts_.settle(message.protocol);
      message.first_hop = static_cast<std::uint32_t>(hops_.size());
      lay_out_hops(job_, texts_, MessageIndex(i), initiator(i), hops_);
      message.hops = static_cast<std::uint32_t>(hops_.size()) - message.first_hop;
    }
  }

  std::size_t hops() const { return hops_.size(); }

  // The hops go to Run::hops from `first` on.
  void place(std::size_t first) {
    std::copy(hops_.begin(), hops_.end(), run_.hops.begin() + static_cast<std::ptrdiff_t>(first));
    hops_ = {};
    for (std::size_t i = begin_; i < end_; ++i) {
      run_.messages[i].first_hop += static_cast<std::uint32_t>(first);
    }
  }

 private:
  const UcpOp* initiator(std::size_t message) {
    const UcpIndex index = initiators_[message];
    return index == kNone ? nullptr : &ucp(index);
  }

  // UCP completes a one-sided operation when the initiator's buffer is free, or not at all. The
  // data is in place when the last of its transfers has ended, including the target's answer.
  void end_with_transfers(Message& m, const UcpOp& op, std::span<const UctIndex> ops) {
    bool outstanding = ops.empty() && !op.ended;
    std::int32_t failure = 0;
    for (const UctIndex i : ops) {
      const UctOp& transfer = job_.uct[i];
      outstanding = outstanding || transfer.outstanding();
      failure = std::min(failure, transfer.end_status);
      end_not_before(transfer, m.t_end_ns, m.t_end_from);
    }
    if (outstanding) {
      m.t_end_ns = -1;
    } else if (op.implicit() && op.status >= 0) {
      m.status = text(ucs_status_name(failure));
    }
  }

  // Returns whether the receiver's CPU copies the data.
  bool name_protocol(Message& m, const UcpOp* initiator, std::span<const UctIndex> ops) {
    m.protocol = told_protocol(job_, ops);
    if (m.protocol != kNoText) {
      m.protocol_from = ProtocolFrom::ucx;
      return is_rkey_ptr(run_.texts[m.protocol]);
    }
    const std::string derived = derive_protocol(job_, initiator, ops, m.bytes);
    m.protocol = text(derived);
    m.protocol_from = m.protocol == kNoText ? ProtocolFrom::none : ProtocolFrom::derived;
    return is_rkey_ptr(derived);
  }

  // The texts of the hops, in the order of their creation.
  void meet_operations(std::span<const UctIndex> ops, bool copied_by_cpu) {
    for (const UctIndex i : ops) {
      const auto op = static_cast<std::size_t>(job_.uct[i].op);
      if (!met_[op]) text(uct_op_name(static_cast<log::UctOp>(op)));
      met_[op] = true;
    }
    if (copied_by_cpu) text(kCpuCopy);
  }

  const std::vector<UcpIndex>& initiators_;
  NewTexts& texts_;
  const std::size_t begin_, end_;
  std::bitset<256> met_;  // kinds of UCT operations
  std::vector<Hop> hops_;
};

void list_operations(Job& job) {
  ByIndex<UctOp, MessageIndex> message_of(job.uct.size());
  job.workers.each_part(message_of.size(), 64 * 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const UcpIndex serves = job.uct[i].serves;
      message_of[i] = serves == kNone ? kNone : job.ucp[serves].message;
    }
  });
  job.operations_of = OperationsOfMessages(job.run.messages.size(), message_of);
}

}  // namespace

void lay_out_paths(Job& job, const std::vector<UcpIndex>& initiators) {
  constexpr std::size_t kPart = 4096;
  list_operations(job);
  const std::size_t messages = job.run.messages.size();
  std::deque<NewTexts> texts;
  std::deque<PathsOfPart> parts;
  for (std::size_t begin = 0; begin < messages; begin += kPart) {
    parts.emplace_back(job, initiators, begin, std::min(messages, begin + kPart),
                       texts.emplace_back(job.run.texts));
  }
  job.workers.each(parts.size(), [&](std::size_t i) { parts[i].name(); });
  for (NewTexts& of_part : texts) of_part.intern_in(job.run.texts);
  job.workers.each(parts.size(), [&](std::size_t i) { parts[i].lay_out(); });
  std::vector<std::size_t> first;
  std::size_t hops = 0;
  for (const PathsOfPart& part : parts) {
    first.push_back(hops);
    hops += part.hops();
  }
  make_room(job, job.run.hops, hops);
  job.workers.each(parts.size(), [&](std::size_t i) { parts[i].place(first[i]); });
}

}  // namespace uctrace::merge
