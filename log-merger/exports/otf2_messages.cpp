#include "log-merger/exports/otf2_messages.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace uctrace::exports {
namespace {

constexpr std::int32_t kNobody = -1;

std::int32_t asker_of(const Message& message) {
  if (message.src_process < 0 || message.dst_process < 0 || message.t_start_ns < 0) return kNobody;
  return message.initiator == Side::src ? message.src_process : message.dst_process;
}

std::int32_t receiver_of(const Message& message) {
  const bool has_receive = message.match != Match::unmatched &&
                           message.match != Match::outside_window && message.t_end_ns >= 0;
  if (!has_receive || is_one_sided(message.kind) || message.src_process < 0) return kNobody;
  return message.dst_process;
}

std::vector<std::size_t> lengths_of(const RowSource& source) {
  std::vector<std::size_t> lengths(2 * source.run().processes.size());
  const Wanted<Message> wanted = {
      &Message::kind,        &Message::match,      &Message::initiator, &Message::src_process,
      &Message::dst_process, &Message::t_start_ns, &Message::t_end_ns};
  for_each_row(source, wanted, [&](const Message& message, std::size_t) {
    const std::int32_t asker = asker_of(message), receiver = receiver_of(message);
    if (asker != kNobody) ++lengths[2 * static_cast<std::size_t>(asker)];
    if (receiver != kNobody) ++lengths[2 * static_cast<std::size_t>(receiver) + 1];
  });
  return lengths;
}

MessageEnd told_of(const Message& message, std::size_t number, std::int32_t peer_process) {
  return {.call = message.call,
          .t_start_ns = message.t_start_ns,
          .t_posted_recv_ns = message.t_posted_recv_ns,
          .t_end_ns = message.t_end_ns,
          .bytes = message.bytes,
          .message = static_cast<std::uint32_t>(number),
          .peer_process = peer_process,
          .communicator = message.communicator,
          .tag = message.has_tag ? static_cast<std::uint32_t>(message.tag) : OTF2_UNDEFINED_UINT32,
          .mpi = message.mpi,
          .mpi_recv = message.mpi_recv,
          .protocol = message.protocol,
          .kind = message.kind,
          .match = message.match};
}

// The transports that carried the data, and how much each carried.
void add_path(const Run& run, std::span<const Hop> path, Otf2Strings& strings, MessageEnd& end) {
  std::vector<TextId> transports;
  for (const Hop& hop : path) {
    if (hop.role != Role::data) continue;
    end.wire_bytes += hop.wire_bytes;
    const bool is_known =
        std::find(transports.begin(), transports.end(), hop.transport) != transports.end();
    if (!is_known) transports.push_back(hop.transport);
  }
  if (transports.empty()) return;
  std::string names;
  for (const TextId transport : transports) {
    if (!names.empty()) names += ',';
    names += run.texts[transport];
  }
  end.transports = strings.id_of(names);
}

}  // namespace

MessagesOfProcesses::MessagesOfProcesses(const RowSource& source, Otf2Strings& strings,
                                         const std::filesystem::path& folder)
    : ends_(folder, lengths_of(source)) {
  const Wanted<Hop> of_path = {&Hop::role, &Hop::transport, &Hop::wire_bytes};
  for_each_message(source, Wanted<Message>::all(), of_path,
                   [&](const Message& message, std::span<const Hop> path, std::size_t number) {
                     const std::int32_t asker = asker_of(message), receiver = receiver_of(message);
                     if (asker != kNobody) {
                       const bool asks_for_data = message.initiator == Side::dst;
                       MessageEnd end =
                           told_of(message, number,
                                   asks_for_data ? message.src_process : message.dst_process);
                       add_path(source.run(), path, strings, end);
                       ends_.add(2 * static_cast<std::size_t>(asker), end);
                     }
                     if (receiver != kNobody) {
                       ends_.add(2 * static_cast<std::size_t>(receiver) + 1,
                                 told_of(message, number, message.src_process));
                     }
                   });
  ends_.end();
}

}  // namespace uctrace::exports
