#include "log-merger/summaries/sums.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "log-merger/model/size_class.hpp"
#include "log-merger/summaries/call_parts.hpp"
#include "log-merger/summaries/numbers.hpp"

namespace uctrace {
namespace {

using summaries::Key;
using summaries::key_of;
using summaries::Numbers;

// This many sums are always kept; more only if each represents at least this many rows.
constexpr std::size_t kFewSums = 1 << 16;
constexpr std::size_t kRowsOfSum = 4;

bool are_worth_it(std::size_t sums, std::size_t rows) {
  return sums <= kFewSums || sums <= rows / kRowsOfSum;
}

HopSum kind_of(const Hop& hop) {
  HopSum sum;
  sum.issued_by = hop.issued_by;
  sum.role = hop.role;
  sum.network = hop.network;
  sum.from_memory = hop.from_memory;
  sum.to_memory = hop.to_memory;
  sum.from_gpu = hop.from_gpu;
  sum.to_gpu = hop.to_gpu;
  sum.transport = hop.transport;
  sum.device = hop.device;
  sum.remote_device = hop.remote_device;
  sum.op = hop.op;
  return sum;
}

class MessageSums {
 public:
  explicit MessageSums(Run& run) : run_(run) {}

  // False if they turn out not to be worthwhile; the partial result is then useless.
  bool add_all() {
    sum_of_message_.reserve(run_.messages.size());
    for (const Message& message : run_.messages) {
      sum_of_message_.push_back(add(message));
      if (!are_worth_it(run_.message_sums.size(), run_.messages.size())) return false;
    }
    return true;
  }

  std::int32_t sum_of(std::int64_t message) const {
    return message < 0
               ? -1
               : static_cast<std::int32_t>(sum_of_message_[static_cast<std::size_t>(message)]);
  }

 private:
  using Steps = std::vector<std::uint32_t>;

  std::uint32_t add(const Message& message) {
    const std::span<const Hop> path = path_of(run_, message);
    steps_.clear();
    for (const Hop& hop : path) steps_.push_back(step_of(hop));
    kinds_ = steps_;
    std::sort(kinds_.begin(), kinds_.end());
    kinds_.erase(std::unique(kinds_.begin(), kinds_.end()), kinds_.end());
    MessageSum& sum = sum_like(message);
    ++sum.messages;
    sum.bytes += message.bytes;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const auto at = std::lower_bound(kinds_.begin(), kinds_.end(), steps_[i]) - kinds_.begin();
      HopSum& hops = run_.hop_sums[sum.first_hop + static_cast<std::size_t>(at)];
      hops.count += path[i].count;
      hops.payload_bytes += path[i].payload_bytes;
      hops.wire_bytes += path[i].wire_bytes;
    }
    return static_cast<std::uint32_t>(&sum - run_.message_sums.data());
  }

  std::uint32_t step_of(const Hop& hop) {
    const auto [step, is_new] = step_numbers_.of(
        key_of(hop.issued_by, hop.role, hop.network, hop.from_memory, hop.to_memory, hop.from_gpu,
               hop.to_gpu, hop.transport, hop.device, hop.remote_device, hop.op));
    if (is_new) step_kinds_.push_back(kind_of(hop));
    return step;
  }

  MessageSum& sum_like(const Message& m) {
    const std::int32_t caller =
        m.call < 0
            ? -1
            : static_cast<std::int32_t>(run_.mpi_calls[static_cast<std::size_t>(m.call)].process);
    const std::int32_t site = call_site_at(run_, m.stack);
    const std::uint8_t size = size_class(m.bytes);
    const auto [number, is_new] =
        numbers_.of(key_of(m.kind, m.src_memory, m.dst_memory, size, m.src, m.dst, m.src_process,
                           m.dst_process, m.src_gpu, m.dst_gpu, m.mpi, m.comm, m.protocol,
                           m.communicator, caller, site, path_numbers_.of(kinds_).first));
    if (!is_new) return run_.message_sums[number];
    MessageSum& sum = run_.message_sums.emplace_back();
    sum.kind = m.kind;
    sum.src_memory = m.src_memory;
    sum.dst_memory = m.dst_memory;
    sum.size = size;
    sum.src = m.src;
    sum.dst = m.dst;
    sum.src_process = m.src_process;
    sum.dst_process = m.dst_process;
    sum.src_gpu = m.src_gpu;
    sum.dst_gpu = m.dst_gpu;
    sum.mpi = m.mpi;
    sum.comm = m.comm;
    sum.protocol = m.protocol;
    sum.communicator = m.communicator;
    sum.caller = caller;
    sum.call_site = site;
    sum.first_hop = static_cast<std::uint32_t>(run_.hop_sums.size());
    sum.hops = static_cast<std::uint32_t>(kinds_.size());
    for (const std::uint32_t kind : kinds_) run_.hop_sums.push_back(step_kinds_[kind]);
    return sum;
  }

  Run& run_;
  Numbers<Key<17>> numbers_;
  Numbers<Steps> path_numbers_;
  Numbers<Key<11>> step_numbers_;
  std::vector<HopSum> step_kinds_;  // by number; nothing summed
  Steps steps_, kinds_;             // of the current message; each once, in order
  std::vector<std::uint32_t> sum_of_message_;
};

bool add_calls(Run& run) {
  Numbers<Key<8>> numbers;
  bool worth_it = true;
  CallParts(run).for_each(Wanted<MpiCallRow>::all(), [&](const CallPart& part) {
    if (!worth_it) return;
    const MpiCallRow& call = part.call;
    const std::int32_t site = call_site_at(run, call.stack);
    const bool has_stack = call.stack >= 0;
    const std::uint8_t size = size_class(std::max(call.bytes, call.recv_bytes));
    const auto [number, is_new] =
        numbers.of(key_of(call.process, call.function, call.comm, call.communicator,
                          part.communicator, site, has_stack, size));
    if (is_new) {
      CallSum& sum = run.call_sums.emplace_back();
      sum.process = call.process;
      sum.function = call.function;
      sum.comm = call.comm;
      sum.communicator = call.communicator;
      sum.part_communicator = part.communicator;
      sum.call_site = site;
      sum.has_stack = has_stack;
      sum.size = size;
    }
    CallSum& sum = run.call_sums[number];
    sum.part_ns += part.ns;
    sum.part_waiting_ns += part.waiting_ns;
    sum.part_unknown_ns += part.unknown_ns;
    if (part.counts) {
      ++sum.calls;
      sum.timed += CallParts::is_timed(call) ? 1 : 0;
      sum.bytes += call.bytes;
      sum.recv_bytes += call.recv_bytes;
      sum.ns += CallParts::duration_of(call);
    }
    worth_it = are_worth_it(run.call_sums.size(), run.mpi_calls.size());
  });
  return worth_it;
}

void add_operations(Run& run, const MessageSums& messages) {
  Numbers<Key<4>> numbers;
  for (const UcpOperationRow& operation : run.ucp_operations) {
    if (operation.stack < 0 || operation.progressed_in != kNoText) continue;
    if (operation.library_call >= 0) continue;  // the program called the library
    const std::int32_t site = call_site_at(run, operation.stack);
    const std::int32_t message_sum = messages.sum_of(operation.message);
    const auto [number, is_new] =
        numbers.of(key_of(operation.process, operation.function, site, message_sum));
    if (is_new) {
      OperationSum& sum = run.operation_sums.emplace_back();
      sum.process = operation.process;
      sum.function = operation.function;
      sum.call_site = site;
      sum.message_sum = message_sum;
    }
    OperationSum& sum = run.operation_sums[number];
    ++sum.calls;
    sum.timed += CallParts::is_timed(operation) ? 1 : 0;
    sum.bytes += operation.bytes;
    sum.ns += CallParts::duration_of(operation);
  }
}

void add_transfers(Run& run) {
  Numbers<Key<5>> numbers;
  for (const Transfer& transfer : run.transfers) {
    if (transfer.message >= 0) continue;
    const auto [number, is_new] = numbers.of(key_of(
        transfer.process, transfer.peer_process, transfer.transport, transfer.op, transfer.role));
    if (is_new) {
      TransferSum& sum = run.transfer_sums.emplace_back();
      sum.process = transfer.process;
      sum.peer_process = transfer.peer_process;
      sum.transport = transfer.transport;
      sum.op = transfer.op;
      sum.role = transfer.role;
    }
    TransferSum& sum = run.transfer_sums[number];
    ++sum.transfers;
    sum.payload_bytes += transfer.payload_bytes;
    sum.wire_bytes += transfer.wire_bytes;
  }
}

void forget_message_sums(Run& run) {
  run.messages_are_summed = false;
  run.message_sums = {};
  run.hop_sums = {};
  run.operation_sums = {};
  run.transfer_sums = {};
}

void forget_call_sums(Run& run) {
  run.calls_are_summed = false;
  run.call_sums = {};
}

}  // namespace

void lay_out_sums(Run& run) {
  forget_call_sums(run);
  run.calls_are_summed = add_calls(run);
  if (!run.calls_are_summed) forget_call_sums(run);
  forget_message_sums(run);
  MessageSums messages(run);
  if (!messages.add_all()) return forget_message_sums(run);
  add_operations(run, messages);
  add_transfers(run);
  run.messages_are_summed = true;
}

}  // namespace uctrace
