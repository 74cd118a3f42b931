// What messages cost, by protocol and size.
#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <string_view>

#include "log-merger/findings/rules.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/model/size_class.hpp"

namespace uctrace::findings {
namespace {

constexpr std::uint64_t kEnough = 30;  // messages for a meaningful median
constexpr double kJump = 3;            // twice the length should cost twice the time
constexpr double kSlowFirst = 5;       // times the median of the later ones
constexpr double kLeastShare = 0.01;   // of the time of all ranks

// The kind of operation that a protocol serves. By size, UCX chooses only among the protocols of
// one kind: "eager/short" and "rndv/get/zcopy" serve tag messages, "am/rndv/..." active messages.
// Synchronous sends ("eager-sync/...") stay apart, because their latency includes an answer.
std::string_view operation_of(std::string_view protocol) {
  const std::string_view first = protocol.substr(0, protocol.find('/'));
  return first == "rndv" ? "eager" : first;
}

struct MainKey {
  Reach reach;
  std::string_view operation;
  std::uint8_t size;  // class of sizes
  auto operator<=>(const MainKey&) const = default;
};

// For each class of sizes, the protocol of most messages.
using MainProtocols = std::map<MainKey, const ProtocolSize*>;

MainProtocols main_protocols(const Facts& facts) {
  MainProtocols main;
  for (const ProtocolSize& row : facts.protocols) {
    if (row.protocol == kNoText) continue;
    const ProtocolSize*& most =
        main[{row.reach, operation_of(facts.run.texts[row.protocol]), row.size}];
    if (most == nullptr || row.all.messages() > most->all.messages()) most = &row;
  }
  return main;
}

const char* reach_words(Reach reach) {
  switch (reach) {
    case Reach::process:
      return "within a process";
    case Reach::host:
      return "within hosts";
    case Reach::network:
      return "between hosts";
    case Reach::unknown:
      break;
  }
  return "between unknown ends";
}

}  // namespace

void switch_is_costly(const Facts& facts, Found& found) {
  const MainProtocols main = main_protocols(facts);
  const Texts& texts = facts.run.texts;
  const ProtocolSize *before = nullptr, *after = nullptr;
  double most = 0;
  for (const auto& [key, small] : main) {
    const auto next =
        main.find({key.reach, key.operation, static_cast<std::uint8_t>(key.size + 1)});
    if (next == main.end()) continue;
    const ProtocolSize* large = next->second;
    if (small->protocol == large->protocol) continue;
    if (small->all.timed() < kEnough || large->all.timed() < kEnough) continue;
    const double low = small->all.quantile(0.5), high = large->all.quantile(0.5);
    if (low <= 0 || high < kJump * low) continue;
    const double cost = (high - 2 * low) * static_cast<double>(large->all.timed());
    if (cost <= most) continue;
    most = cost;
    before = small;
    after = large;
  }
  if (before == nullptr) return;
  const double low = before->all.quantile(0.5), high = after->all.quantile(0.5);
  const std::uint64_t size = length_of(after->size);
  found.push_back(
      {.rule = "switch-is-costly",
       .what = fmt::format("From {} on messages {} change from {} to {}, and their median latency "
                           "jumps from {} to {} where the size doubles ({} messages of {} to {})",
                           format_bytes(size), reach_words(after->reach), texts[before->protocol],
                           texts[after->protocol], time_text(low), time_text(high),
                           after->all.messages(), format_bytes(size), format_bytes(2 * size - 1)),
       .advice = "try another bound, as UCX_RNDV_THRESH=64k (UCX_ZCOPY_THRESH for zcopy), and "
                 "compare the two runs",
       .command = "report --by protocol",
       .evidence = {{"from_bytes", size},
                    {"protocol_below", texts[before->protocol]},
                    {"protocol_from_there", texts[after->protocol]},
                    {"median_below_ns", low},
                    {"median_from_there_ns", high},
                    {"messages", after->all.messages()},
                    {"cost_ns", most}},
       .share = facts.share_of_time(most)});
}

void first_messages_are_late(const Facts& facts, Found& found) {
  double excess = 0, first_ns = 0, usual_ns = 0;
  std::uint64_t messages = 0;
  for (const ProtocolSize& row : facts.protocols) {
    if (row.first.timed() == 0 || row.later.timed() < kEnough) continue;
    const double usual = row.later.quantile(0.5) * static_cast<double>(row.first.timed());
    const auto took = static_cast<double>(row.first.ns());
    if (usual <= 0 || took < kSlowFirst * usual) continue;
    messages += row.first.timed();
    excess += took - usual;
    first_ns += took;
    usual_ns += usual;
  }
  const double share = facts.share_of_time(excess);
  if (messages == 0 || share < kLeastShare) return;
  const auto count = static_cast<double>(messages);
  found.push_back(
      {.rule = "first-messages-late",
       .what =
           fmt::format("The first message from a rank to another took {} on average, later ones "
                       "of the same protocol and size {}: {} all together, in which endpoints "
                       "connect and memory is registered",
                       time_text(first_ns / count), time_text(usual_ns / count), time_text(excess)),
       .advice =
           "leave the first iteration out of what you measure, or exchange one message between "
           "all that will talk before it",
       .command = "messages --sort duration --limit 10",
       .evidence = {{"first_messages", messages},
                    {"mean_first_ns", first_ns / count},
                    {"median_later_ns", usual_ns / count},
                    {"excess_ns", excess}},
       .share = share});
}

}  // namespace uctrace::findings
