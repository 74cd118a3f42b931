#include "log-merger/simulate/network_change.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "log-merger/model/mpi_names.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

namespace {

// The transport that carried most of a message's data; kNoText: none did.
TextId transport_of(std::span<const Hop> path) {
  std::map<TextId, std::uint64_t> bytes;
  for (const Hop& hop : path) {
    if (hop.role == Role::data && hop.transport != kNoText) {
      bytes[hop.transport] += hop.payload_bytes;
    }
  }
  const auto most = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? kNoText : most->first;
}

std::int64_t time_of(const NetworkChange& change, std::uint64_t bytes) {
  const double ns = static_cast<double>(change.latency_ns) +
                    1e9 * static_cast<double>(bytes) / static_cast<double>(change.bytes_per_s);
  return std::llround(std::min(ns, 1e18));
}

std::vector<bool> waited_for(const RecordedCalls& recorded, std::size_t messages) {
  std::vector<bool> waited(messages, false);
  for (const replay::Dependency& one : recorded.dependencies) {
    const auto place = static_cast<std::size_t>(one.message);
    if (one.message >= 0 && place < messages) waited[place] = true;
  }
  return waited;
}

}  // namespace

ChangedNetwork changed_network(const RowSource& source, const RecordedCalls& recorded,
                               const std::vector<NetworkChange>& changes) {
  ChangedNetwork changed;
  if (changes.empty()) return changed;
  const Run& run = source.run();
  const std::size_t count = source.count<Message>();
  changed.ways.assign(count, {-1, false});
  changed.changed.resize(changes.size());
  changed.kept.resize(changes.size());
  const std::vector<bool> waited = waited_for(recorded, count);
  std::set<TextId> transports;
  for_each_message(source, {&Message::bytes, &Message::protocol, &Message::mpi},
                   {&Hop::role, &Hop::transport, &Hop::payload_bytes},
                   [&](const Message& message, std::span<const Hop> path, std::size_t number) {
                     const TextId transport = transport_of(path);
                     if (transport != kNoText) transports.insert(transport);
                     for (std::size_t i = 0; i < changes.size(); ++i) {
                       const std::string& asked = changes[i].transport;
                       if (asked != "all" && asked != run.texts[transport]) continue;
                       MessageCount& counted =
                           waited[number] ? changed.changed[i] : changed.kept[i];
                       ++counted.messages;
                       counted.bytes += message.bytes;
                       if (waited[number]) {
                         changed.ways[number] = {
                             time_of(changes[i], message.bytes),
                             needs_receiver(run.texts[message.protocol], run.texts[message.mpi])};
                       }
                       break;
                     }
                   });
  for (const NetworkChange& change : changes) {
    const TextId id = run.texts.find(change.transport);
    if (change.transport == "all" || (id != kUnknownText && transports.contains(id))) continue;
    std::set<std::string> known = {"all"};
    for (const TextId transport : transports) known.insert(run.texts[transport]);
    refuse_value(change.transport, "network", known);
  }
  return changed;
}

}  // namespace uctrace
