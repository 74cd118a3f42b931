#include "log-merger/findings/facts.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "log-merger/model/quantities.hpp"
#include "log-merger/model/reach.hpp"
#include "log-merger/model/size_class.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/info_members.hpp"
#include "log-merger/summaries/memory_output.hpp"
#include "log-merger/summaries/traffic.hpp"

namespace uctrace::findings {
namespace {

static_assert(is_between_classes(kTinyBytes));  // sums tell which messages are tiny

// Adds up messages, or sums of similar messages: `like` is one of them.
class Adder {
 public:
  explicit Adder(Facts& facts) : facts_(facts) {}

  void add(const Message& like, std::span<const Hop> path, std::int32_t call_site,
           std::uint64_t messages, std::uint64_t bytes) {
    facts_.messages += messages;
    facts_.payload_bytes += bytes;
    add_carried(like, path, messages);
    add_staged(like, path, messages, bytes);
    if (call_site >= 0 && size_class(like.bytes) <= size_class(kTinyBytes - 1)) {
      TinyMessages& tiny = tiny_[{call_site, like.mpi}];
      tiny.messages += messages;
      tiny.bytes += bytes;
    }
  }

  void finish(const RowSource& source, const Filter& all) {
    for (const auto& [key, carried] : carried_) facts_.carried.push_back(carried);
    for_each_calls(source, all, [&](const Calls& calls) {
      if (!calls.call_site) return;
      const auto found = tiny_.find({*calls.call_site, calls.function});
      if (found != tiny_.end()) found->second.ns += calls.ns;
    });
    for (auto& [key, tiny] : tiny_) {
      std::tie(tiny.call_site, tiny.mpi) = key;
      facts_.tiny.push_back(tiny);
    }
  }

 private:
  void add_carried(const Message& like, std::span<const Hop> path, std::uint64_t messages) {
    const bool between_hosts_memory =
        !is_device_memory(like.src_place()) && !is_device_memory(like.dst_place());
    for (const Hop& hop : path) {
      if (hop.role != Role::data || hop.payload_bytes == 0) continue;
      Carried& carried = carried_[{like.src_process, like.dst_process, hop.transport}];
      carried.src_process = like.src_process;
      carried.dst_process = like.dst_process;
      carried.reach = reach_of(facts_.run, like.src_process, like.dst_process);
      carried.transport = hop.transport;
      carried.messages += messages;
      carried.bytes += hop.payload_bytes;
      if (between_hosts_memory) carried.host_bytes += hop.payload_bytes;
    }
  }

  void add_staged(const Message& like, std::span<const Hop> path, std::uint64_t messages,
                  std::uint64_t bytes) {
    if (!is_device_memory(like.src_place()) && !is_device_memory(like.dst_place())) return;
    facts_.staged.of_messages += messages;
    facts_.staged.of_bytes += bytes;
    const bool copied = std::any_of(path.begin(), path.end(), [](const Hop& hop) {
      const bool out = is_device_memory(hop.from()) && hop.to_memory == MemoryKind::host;
      const bool in = is_device_memory(hop.to()) && hop.from_memory == MemoryKind::host;
      return hop.role == Role::staging && (out || in);
    });
    if (!copied) return;
    facts_.staged.messages += messages;
    facts_.staged.bytes += bytes;
  }

  Facts& facts_;
  std::map<std::tuple<std::int32_t, std::int32_t, TextId>, Carried> carried_;
  std::map<std::pair<std::int32_t, TextId>, TinyMessages> tiny_;
};

void add_messages(const RowSource& source, Adder& adder) {
  const Run& run = source.run();
  if (run.messages_are_summed) {
    RowWindow<HopSum> hops(source, Wanted<HopSum>::all());
    std::vector<Hop> path;
    for_each_row(source, Wanted<MessageSum>::all(), [&](const MessageSum& sum, std::size_t) {
      path.clear();
      for (const HopSum& hop : hops.rows(sum.first_hop, sum.hops)) path.push_back(hop_of(hop));
      adder.add(like(sum), path, sum.call_site, sum.messages, sum.bytes);
    });
    return;
  }
  using M = Message;
  using H = Hop;
  for_each_message(source,
                   {&M::src_process, &M::dst_process, &M::src_memory, &M::dst_memory, &M::src_gpu,
                    &M::dst_gpu, &M::mpi, &M::bytes, &M::stack},
                   {&H::role, &H::payload_bytes, &H::transport, &H::from_memory, &H::to_memory,
                    &H::from_gpu, &H::to_gpu},
                   [&](const Message& message, std::span<const Hop> path, std::size_t) {
                     adder.add(message, path, call_site_at(run, message.stack), 1, message.bytes);
                   });
}

struct Span {
  std::uint32_t process;
  std::int64_t begin_ns, end_ns;
};

// Waits of messages overlap each other and computation: so their times cannot simply be added.
double union_ns(std::vector<Span>& spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return std::tie(a.process, a.begin_ns) < std::tie(b.process, b.begin_ns);
  });
  double ns = 0;
  std::int64_t reached = INT64_MIN;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Span& span = spans[i];
    if (i == 0 || spans[i - 1].process != span.process) reached = INT64_MIN;
    const std::int64_t begin = std::max(span.begin_ns, reached);
    if (begin < span.end_ns) ns += static_cast<double>(span.end_ns) - static_cast<double>(begin);
    reached = std::max(reached, span.end_ns);
  }
  return ns;
}

// Only between the start and the end of MPI, like the time of all ranks.
Connecting connecting_of(const RowSource& source) {
  using C = ConnectionRow;
  std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> in_mpi;
  for (const RankTime& rank : source.run().rank_times) {
    in_mpi[rank.process] = {rank.t_begin_ns, rank.t_end_ns};
  }
  std::unordered_set<std::int64_t> messages;
  std::vector<Span> spans;
  Connecting all;
  for_each_row<C>(
      source,
      {&C::process, &C::first_message, &C::waited_ns, &C::transport, &C::t_created_ns,
       &C::t_connected_ns},
      [&](const C& row, std::size_t) {
        const auto rank = in_mpi.find(row.process);
        const std::int64_t ready = std::max(row.t_created_ns, row.t_connected_ns);
        if (row.waited_ns <= 0 || row.first_message < 0 || ready < 0 || rank == in_mpi.end())
          return;
        const std::int64_t start = ready - std::min(row.waited_ns, ready);
        const Span span{row.process, std::max(start, rank->second.first),
                        std::min(ready, rank->second.second)};
        if (span.begin_ns >= span.end_ns) return;
        messages.insert(row.first_message);
        spans.push_back(span);
        if (row.waited_ns <= all.longest_ns) return;
        all.longest_ns = row.waited_ns;
        all.transport = row.transport;
      });
  all.messages = messages.size();
  all.ns = union_ns(spans);
  return all;
}

}  // namespace

Facts facts_of(const RowSource& source) {
  const Run& run = source.run();
  Facts facts{.run = run, .info = summaries::parsed_info(run)};
  const Filter all(source, {});
  Adder adder(facts);
  add_messages(source, adder);
  adder.finish(source, all);
  facts.connecting = connecting_of(source);
  facts.protocols = by_protocol_and_size(run, latency_sums(source, all));
  for (const RankTime& rank : run.rank_times) {
    facts.rank_ns +=
        std::max(0.0, static_cast<double>(rank.t_end_ns) - static_cast<double>(rank.t_begin_ns));
  }
  return facts;
}

std::uint64_t count_of(const nlohmann::ordered_json& object, const char* key) {
  const nlohmann::ordered_json& value = summaries::member(object, key);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

std::string time_text(double ns) {
  constexpr double kLongest = 9e18;
  return format_duration(static_cast<std::uint64_t>(std::clamp(ns, 0.0, kLongest)));
}

}  // namespace uctrace::findings
