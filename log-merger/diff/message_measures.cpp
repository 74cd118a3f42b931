// Messages as `uctrace diff` compares them: what carried them, and how long they took.
#include <fmt/format.h>

#include <deque>

#include "log-merger/diff/measures_parts.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/model/size_class.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/numbers.hpp"
#include "log-merger/summaries/traffic.hpp"

namespace uctrace::diff {
namespace {

std::string text_or_unknown(const Run& run, TextId id) {
  return id == kNoText ? "unknown" : run.texts[id];
}

// "64.0 KiB to 128 KiB".
std::string size_words(std::uint8_t size) {
  if (size == 0) return "0 B";
  if (size == 1) return "1 B";
  return fmt::format("{} to {}", format_bytes(length_of(size)),
                     format_bytes(2 * length_of(size) - 1));
}

// Messages that are alike: of one pair, protocol and class of sizes.
struct MessageKind {
  Party source, destination;
  TextId protocol = kNoText;
  std::uint8_t size = 0;
  std::uint64_t messages = 0, bytes = 0;
  Spread times;
};

}  // namespace

bool has_many_pairs(const RowSource& source) {
  using M = Message;
  summaries::Numbers<summaries::Key<4>> numbers;
  std::size_t pairs = 0;
  const Filter all(source, {});
  for_each_traffic(
      source, all, {&M::src, &M::src_process, &M::dst, &M::dst_process}, {},
      [&](const Traffic& traffic) {
        if (pairs > kMostPairs) return;
        const Message& like = traffic.like;
        pairs +=
            numbers.of(summaries::key_of(like.src, like.src_process, like.dst, like.dst_process))
                .second;
      });
  return pairs > kMostPairs;
}

void add_traffic(const RowSource& source, RunMeasures& measures) {
  using M = Message;
  const Run& run = source.run();
  const Labels labels(run);
  const Filter all(source, {});
  for_each_traffic(
      source, all,
      {&M::bytes, &M::protocol, &M::mpi, &M::src, &M::src_process, &M::dst, &M::dst_process},
      {&Hop::role, &Hop::transport, &Hop::device, &Hop::count, &Hop::payload_bytes},
      [&](const Traffic& traffic) {
        measures.has_messages = true;
        whole_of(measures, Whole::payload) += static_cast<double>(traffic.bytes);
        whole_of(measures, Whole::messages) += static_cast<double>(traffic.messages);
        const std::string protocol = text_or_unknown(run, traffic.like.protocol);
        add_count(measures, {"protocol", protocol, "payload"}, Whole::payload, traffic.bytes);
        add_count(measures, {"protocol", protocol, "messages"}, Whole::messages, traffic.messages);
        if (traffic.like.mpi != kNoText) {
          const std::string& function = run.texts[traffic.like.mpi];
          add_count(measures, {"function", function, "payload"}, Whole::payload, traffic.bytes);
        }
        if (measures.has_pairs) {
          add_count(
              measures,
              {"pair",
               labels(source_of(traffic.like)) + " -> " + labels(destination_of(traffic.like)),
               "payload"},
              Whole::payload, traffic.bytes);
        }
        for (const Hop& hop : traffic.path) {
          if (hop.role == Role::control) continue;
          measures.has_hops = true;
          const std::string transport = text_or_unknown(run, hop.transport);
          const std::string device = transport + "/" + text_or_unknown(run, hop.device);
          add_count(measures, {"transport", transport, "payload"}, Whole::payload,
                    hop.payload_bytes);
          add_count(measures, {"transport", transport, "transfers"}, Whole::transfers, hop.count);
          add_count(measures, {"device", device, "payload"}, Whole::payload, hop.payload_bytes);
          whole_of(measures, Whole::transfers) += static_cast<double>(hop.count);
        }
      });
}

void add_message_times(const RowSource& source, RunMeasures& measures) {
  using M = Message;
  const Run& run = source.run();
  const Labels labels(run);
  summaries::Numbers<summaries::Key<6>> numbers;
  std::deque<MessageKind> kinds;
  for_each_row<M>(
      source,
      {&M::protocol, &M::bytes, &M::src, &M::src_process, &M::dst, &M::dst_process, &M::t_start_ns,
       &M::t_end_ns},
      [&](const M& message, std::size_t) {
        // If there are too many pairs, those of one source are one kind.
        const Party destination = measures.has_pairs ? destination_of(message) : Party{};
        const std::uint8_t size = size_class(message.bytes);
        const auto [number, fresh] =
            numbers.of(summaries::key_of(message.src, message.src_process, destination.rank,
                                         destination.process, message.protocol, size));
        if (fresh) {
          kinds.push_back({source_of(message), destination, message.protocol, size, 0, 0, {}});
        }
        MessageKind& kind = kinds[number];
        ++kind.messages;
        kind.bytes += message.bytes;
        if (message.t_start_ns >= 0 && message.t_end_ns >= message.t_start_ns) {
          const auto ns = static_cast<std::uint64_t>(message.t_end_ns - message.t_start_ns);
          kind.times.add(ns);
          measures.protocols[{text_or_unknown(run, message.protocol), size}].times.add(ns);
        }
      });
  for (const MessageKind& kind : kinds) {
    Band band;
    band.add(kind.times);
    whole_of(measures, Whole::message_time) += band.value_ns;
    add_time(measures, {"size", size_words(kind.size), "time of messages"}, Whole::message_time,
             band);
    add_time(measures, {"protocol", text_or_unknown(run, kind.protocol), "time of messages"},
             Whole::message_time, band);
    ProtocolSizeTotal& total = measures.protocols[{text_or_unknown(run, kind.protocol), kind.size}];
    total.messages += kind.messages;
    total.bytes += kind.bytes;
    if (!measures.has_pairs) continue;
    add_time(measures,
             {"pair", labels(kind.source) + " -> " + labels(kind.destination), "time of messages"},
             Whole::message_time, band);
  }
}

}  // namespace uctrace::diff
