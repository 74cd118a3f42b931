#include "log-merger/summaries/legs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "log-merger/summaries/memory_output.hpp"

namespace uctrace {
namespace {

TextId host_of(const Run& run, std::int32_t process) {
  return process < 0 ? kNoText : run.processes[static_cast<std::size_t>(process)].host;
}

Stop memory_stop(MemoryPlace place, TextId host) {
  return {Stop::Kind::memory, place, kNoText, host};
}
Stop card_stop(TextId device, TextId host) { return {Stop::Kind::network_card, {}, device, host}; }

std::string stop_text(const Run& run, const Stop& stop) {
  const std::string what = stop.kind == Stop::Kind::memory ? memory_text(run, stop.place)
                           : stop.device == kNoText        ? "a network card"
                                                           : run.texts[stop.device];
  return stop.host == kNoText ? what : fmt::format("{} of {}", what, run.texts[stop.host]);
}

}  // namespace

std::vector<Leg> legs_of(const Run& run, const Message& message, std::span<const Hop> path) {
  const TextId src = host_of(run, message.src_process), dst = host_of(run, message.dst_process);
  std::vector<Leg> legs;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Hop& hop = path[i];
    if (hop.role == Role::control) continue;
    const bool by_source = hop.issued_by == Side::src;
    if (hop.role == Role::staging) {
      const TextId host = by_source ? src : dst;
      legs.push_back({memory_stop(hop.from(), host), memory_stop(hop.to(), host), i});
      continue;
    }
    const Stop from = memory_stop(hop.from(), src), to = memory_stop(hop.to(), dst);
    if (!hop.network) {
      legs.push_back({from, to, i});
      continue;
    }
    const Stop leaves = card_stop(by_source ? hop.device : hop.remote_device, src);
    const Stop enters = card_stop(by_source ? hop.remote_device : hop.device, dst);
    legs.push_back({from, leaves, i});
    legs.push_back({leaves, enters, i});
    legs.push_back({enters, to, i});
  }
  return legs;
}

std::string legs_text(const Run& run, const Message& message, std::span<const Hop> path) {
  std::string text;
  std::set<std::pair<Stop, Stop>> told;
  const Stop* last = nullptr;
  const std::vector<Leg> legs = legs_of(run, message, path);
  for (const Leg& leg : legs) {
    if (!told.emplace(leg.from, leg.to).second) continue;  // another operation used this leg, too
    if (last == nullptr || *last != leg.from) {
      text += (text.empty() ? "" : "; ") + stop_text(run, leg.from);
    }
    text += " -> " + stop_text(run, leg.to);
    last = &leg.to;
  }
  return text;
}

}  // namespace uctrace
