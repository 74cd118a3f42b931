#include "log-merger/summaries/traffic.hpp"

#include <vector>

#include "log-merger/model/size_class.hpp"
#include "log-merger/summaries/call_parts.hpp"

namespace uctrace {
namespace {

bool has_message_sums(const RowSource& source, const Filter& filter) {
  return source.run().messages_are_summed && filter.can_ask_sums();
}

bool has_call_sums(const RowSource& source, const Filter& filter) {
  return source.run().calls_are_summed && filter.can_ask_sums();
}

MpiCallRow like(const CallSum& sum) {
  MpiCallRow call;
  call.process = sum.process;
  call.function = sum.function;
  call.comm = sum.comm;
  call.communicator = sum.communicator;
  return call;
}

Transfer like(const TransferSum& sum) {
  Transfer transfer;
  transfer.process = sum.process;
  transfer.peer_process = sum.peer_process;
  transfer.transport = sum.transport;
  transfer.op = sum.op;
  transfer.role = sum.role;
  return transfer;
}

// A bit for each message, or each row of message sums: whether the filter selects it.
std::vector<bool> selected(const RowSource& source, const Filter& filter) {
  std::vector<bool> bits;
  if (has_message_sums(source, filter)) {
    RowWindow<HopSum> hops(source, Wanted<HopSum>::all());
    std::vector<Hop> path;
    for_each_row(source, Wanted<MessageSum>::all(), [&](const MessageSum& sum, std::size_t) {
      path.clear();
      for (const HopSum& hop : hops.rows(sum.first_hop, sum.hops)) path.push_back(hop_of(hop));
      bits.push_back(filter.selects(like(sum), path));
    });
    return bits;
  }
  bits.resize(source.count<Message>(), true);
  if (filter.takes_all()) return bits;
  for_each_message(source, filter.of_messages(), filter.of_paths(),
                   [&](const Message& message, std::span<const Hop> path, std::size_t number) {
                     bits[number] = filter.selects(message, path);
                   });
  return bits;
}

}  // namespace

Message like(const MessageSum& sum) {
  Message message;
  message.kind = sum.kind;
  message.src_memory = sum.src_memory;
  message.dst_memory = sum.dst_memory;
  message.bytes = length_of(sum.size);
  message.src = sum.src;
  message.dst = sum.dst;
  message.src_process = sum.src_process;
  message.dst_process = sum.dst_process;
  message.src_gpu = sum.src_gpu;
  message.dst_gpu = sum.dst_gpu;
  message.mpi = sum.mpi;
  message.comm = sum.comm;
  message.protocol = sum.protocol;
  message.communicator = sum.communicator;
  return message;
}

Hop hop_of(const HopSum& sum) {
  Hop hop;
  hop.issued_by = sum.issued_by;
  hop.role = sum.role;
  hop.network = sum.network;
  hop.from_memory = sum.from_memory;
  hop.to_memory = sum.to_memory;
  hop.from_gpu = sum.from_gpu;
  hop.to_gpu = sum.to_gpu;
  hop.transport = sum.transport;
  hop.device = sum.device;
  hop.remote_device = sum.remote_device;
  hop.op = sum.op;
  hop.count = sum.count;
  hop.payload_bytes = sum.payload_bytes;
  hop.wire_bytes = sum.wire_bytes;
  return hop;
}

void for_each_traffic(const RowSource& source, const Filter& filter, const Wanted<Message>& wanted,
                      const Wanted<Hop>& of_path,
                      const std::function<void(const Traffic&)>& visit) {
  if (has_message_sums(source, filter)) {
    RowWindow<HopSum> hops(source, Wanted<HopSum>::all());
    std::vector<Hop> path;
    for_each_row(source, Wanted<MessageSum>::all(), [&](const MessageSum& sum, std::size_t) {
      const Message message = like(sum);
      if (!filter.accepts(message)) return;
      path.clear();
      for (const HopSum& hop : hops.rows(sum.first_hop, sum.hops)) path.push_back(hop_of(hop));
      visit({message, path, sum.messages, sum.bytes});
    });
    return;
  }
  for_each_message(source, filter.of_messages() | wanted, filter.of_paths() | of_path,
                   [&](const Message& message, std::span<const Hop> path, std::size_t) {
                     if (filter.accepts(message)) visit({message, path, 1, message.bytes});
                   });
}

void for_each_calls(const RowSource& source, const Filter& filter,
                    const std::function<void(const Calls&)>& visit) {
  if (!filter.can_choose_calls()) return;
  if (has_call_sums(source, filter)) {
    for_each_row(source, Wanted<CallSum>::all(), [&](const CallSum& sum, std::size_t) {
      if (sum.calls == 0 || !filter.accepts(like(sum)).value_or(false)) return;
      visit({sum.function, sum.comm, sum.process,
             sum.has_stack ? std::optional(sum.call_site) : std::nullopt, sum.calls,
             sum.bytes + sum.recv_bytes, sum.ns, sum.timed > 0});
    });
    return;
  }
  using Call = MpiCallRow;
  const Run& run = source.run();
  const Wanted<Call> wanted{&Call::process,      &Call::function,   &Call::comm,
                            &Call::communicator, &Call::bytes,      &Call::recv_bytes,
                            &Call::stack,        &Call::t_start_ns, &Call::t_end_ns};
  for_each_row(source, wanted, [&](const Call& call, std::size_t) {
    if (!filter.accepts(call).value_or(false)) return;
    visit({call.function, call.comm, call.process,
           call.stack < 0 ? std::nullopt : std::optional(call_site_at(run, call.stack)), 1,
           call.bytes + call.recv_bytes, CallParts::duration_of(call), CallParts::is_timed(call)});
  });
}

void for_each_operations(const RowSource& source, const Filter& filter,
                         const std::function<void(const Calls&)>& visit) {
  const std::vector<bool> of_message = selected(source, filter);
  const auto is_selected = [&](std::int64_t message) {
    return message < 0 || of_message[static_cast<std::size_t>(message)];
  };
  if (has_message_sums(source, filter)) {
    for_each_row(source, Wanted<OperationSum>::all(), [&](const OperationSum& sum, std::size_t) {
      if (!is_selected(sum.message_sum)) return;
      visit({sum.function, kNoText, sum.process, sum.call_site, sum.calls, sum.bytes, sum.ns,
             sum.timed > 0});
    });
    return;
  }
  using Operation = UcpOperationRow;
  const Run& run = source.run();
  const Wanted<Operation> wanted{
      &Operation::process,       &Operation::function, &Operation::message,
      &Operation::progressed_in, &Operation::bytes,    &Operation::stack,
      &Operation::t_start_ns,    &Operation::t_end_ns, &Operation::library_call};
  for_each_row(source, wanted, [&](const Operation& operation, std::size_t) {
    if (operation.stack < 0 || operation.progressed_in != kNoText) return;
    if (operation.library_call >= 0 || !is_selected(operation.message)) return;
    visit({operation.function, kNoText, operation.process, call_site_at(run, operation.stack), 1,
           operation.bytes, CallParts::duration_of(operation), CallParts::is_timed(operation)});
  });
}

void for_each_without_message(const RowSource& source, const Filter& filter,
                              const std::function<void(const TransfersWithoutMessage&)>& visit) {
  if (has_message_sums(source, filter)) {
    for_each_row(source, Wanted<TransferSum>::all(), [&](const TransferSum& sum, std::size_t) {
      const Transfer transfer = like(sum);
      if (!filter.accepts_without_message(transfer)) return;
      visit({transfer, sum.transfers, sum.payload_bytes, sum.wire_bytes});
    });
    return;
  }
  using T = Transfer;
  const Wanted<T> wanted{&T::message, &T::process,    &T::peer_process,  &T::transport, &T::op,
                         &T::role,    &T::t_start_ns, &T::payload_bytes, &T::wire_bytes};
  for_each_row(source, wanted, [&](const T& transfer, std::size_t) {
    if (transfer.message >= 0 || !filter.accepts_without_message(transfer)) return;
    visit({transfer, 1, transfer.payload_bytes, transfer.wire_bytes});
  });
}

std::uint64_t count_without_message(const RowSource& source) {
  std::uint64_t count = 0;
  if (source.run().messages_are_summed) {
    for_each_row<TransferSum>(source, {&TransferSum::transfers},
                              [&](const TransferSum& sum, std::size_t) { count += sum.transfers; });
    return count;
  }
  for_each_row<Transfer>(source, {&Transfer::message}, [&](const Transfer& transfer, std::size_t) {
    count += transfer.message < 0 ? 1 : 0;
  });
  return count;
}

}  // namespace uctrace
