#include "log-merger/page-data/page_communicators.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "log-merger/model/mpi_names.hpp"
#include "log-merger/page-data/call_costs.hpp"
#include "log-merger/page-data/page_texts.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

// The name that messages use for it.
TextId label_of(const Communicator& communicator) {
  return communicator.user_name == kNoText ? communicator.name : communicator.user_name;
}

struct CommunicatorSum {
  std::int32_t communicator = -1;  // into Run::communicators
  std::uint64_t calls = 0, ns = 0, waiting_ns = 0;
};

// All communicators of the run, also those without calls, and the calls on none; the longest first.
std::vector<CommunicatorSum> sums_of(const RowSource& source) {
  const Run& run = source.run();
  std::map<std::int32_t, CommunicatorSum> sums;
  const auto sum_of = [&](std::int32_t communicator) -> CommunicatorSum& {
    return sums.try_emplace(communicator, CommunicatorSum{communicator}).first->second;
  };
  for (std::size_t i = 0; i < run.communicators.size(); ++i) sum_of(static_cast<std::int32_t>(i));
  for_each_call_cost(source, [&](const CallCost& cost) {
    // These calls do not communicate on their world.
    if (starts_or_ends_mpi(run.texts[cost.function])) return;
    CommunicatorSum& sum = sum_of(cost.communicator);
    sum.calls += cost.calls;
    sum.ns += cost.ns;
    sum.waiting_ns += cost.waiting_ns;
  });
  std::vector<CommunicatorSum> rows;
  for (const auto& [communicator, sum] : sums) rows.push_back(sum);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.ns > b.ns; });
  return rows;
}

ordered_json name_json(const Run& run, std::int32_t communicator) {
  if (communicator < 0) return nullptr;
  return text_or_null(run, run.communicators[static_cast<std::size_t>(communicator)].name);
}

// How many communicators each name stands for in tables of messages.
std::map<TextId, std::size_t> uses_of_names(const Run& run) {
  std::map<TextId, std::size_t> uses;
  for (const Communicator& communicator : run.communicators) ++uses[label_of(communicator)];
  return uses;
}

ordered_json row_json(const Run& run, const CommunicatorSum& sum, bool shares_name) {
  const Communicator known = sum.communicator < 0
                                 ? Communicator{}
                                 : run.communicators[static_cast<std::size_t>(sum.communicator)];
  return {{"name", text_or_null(run, known.name)},
          {"called", text_or_null(run, known.user_name)},
          {"made_by", text_or_null(run, known.function)},
          {"parent", name_json(run, known.parent)},
          {"size", known.size},
          {"remote_size", known.remote_size},
          {"shares_name", shares_name},
          {"calls", sum.calls},
          {"ns", sum.ns},
          {"waiting_ns", sum.waiting_ns}};
}

}  // namespace

ordered_json page_communicators_json(const RowSource& source) {
  const Run& run = source.run();
  ordered_json rows = ordered_json::array();
  std::uint64_t ns = 0;
  const std::vector<CommunicatorSum> sums = sums_of(source);
  const std::map<TextId, std::size_t> uses = uses_of_names(run);
  for (const CommunicatorSum& sum : sums) {
    ns += sum.ns;
    if (rows.size() == kMostPageRows) continue;
    const bool shares_name =
        sum.communicator >= 0 &&
        uses.at(label_of(run.communicators[static_cast<std::size_t>(sum.communicator)])) > 1;
    rows.push_back(row_json(run, sum, shares_name));
  }
  const std::size_t left_out = sums.size() - rows.size();
  return {{"rows", std::move(rows)}, {"left_out", left_out}, {"ns", ns}};
}

}  // namespace uctrace
