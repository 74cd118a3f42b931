#include "log-merger/page-data/page_call_sites.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "log-merger/model/wait_rows.hpp"
#include "log-merger/page-data/call_costs.hpp"
#include "log-merger/page-data/page_texts.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/places.hpp"
#include "log-merger/summaries/traffic.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

struct SiteSum {
  std::int32_t call_site = -1;  // into Run::call_sites
  TextId function = kNoText;
  std::uint64_t calls = 0, ns = 0, waiting_ns = 0;
  std::set<std::uint32_t> processes;
};

class SiteSums {
 public:
  explicit SiteSums(const RowSource& source) {
    for_each_call_cost(source, [&](const CallCost& cost) {
      add(cost.call_site, cost.function, cost.process,
          {-1, kNoText, cost.calls, cost.ns, cost.waiting_ns, {}});
    });
    for_each_operations(source, Filter(source, {}), [&](const Calls& calls) {
      add(calls.call_site.value_or(-1), calls.function, calls.process,
          {-1, kNoText, calls.calls, calls.ns, 0, {}});
    });
  }

  std::vector<SiteSum> in_order() const {
    std::vector<SiteSum> rows;
    for (const auto& [key, sum] : sums_) {
      SiteSum& row = rows.emplace_back(sum);
      std::tie(row.call_site, row.function) = key;
    }
    std::stable_sort(rows.begin(), rows.end(), [](const SiteSum& a, const SiteSum& b) {
      return std::pair(a.waiting_ns, a.ns) > std::pair(b.waiting_ns, b.ns);
    });
    return rows;
  }

 private:
  void add(std::int32_t call_site, TextId function, std::uint32_t process, const SiteSum& more) {
    SiteSum& sum = sums_[{call_site, function}];
    sum.calls += more.calls;
    sum.ns += more.ns;
    sum.waiting_ns += more.waiting_ns;
    sum.processes.insert(process);
  }

  std::map<std::pair<std::int32_t, TextId>, SiteSum> sums_;
};

ordered_json site_json(const Run& run, std::int32_t call_site) {
  if (call_site < 0) return nullptr;
  return text_or_null(run, run.call_sites[static_cast<std::size_t>(call_site)].label);
}

std::size_t left_out(std::size_t rows) { return rows - std::min(rows, kMostPageRows); }

// Unsigned: the times in a store may have any value.
std::uint64_t length_of(const Delay& delay) {
  return static_cast<std::uint64_t>(delay.direct_ns) +
         static_cast<std::uint64_t>(delay.passed_on_ns);
}

}  // namespace

ordered_json page_call_sites_json(const RowSource& source) {
  const Run& run = source.run();
  ordered_json rows = ordered_json::array();
  const std::vector<SiteSum> sums = SiteSums(source).in_order();
  for (const SiteSum& sum : sums) {
    if (rows.size() == kMostPageRows) break;
    rows.push_back({{"site", site_json(run, sum.call_site)},
                    {"mpi", text_or_null(run, sum.function)},
                    {"calls", sum.calls},
                    {"ns", sum.ns},
                    {"waiting_ns", sum.waiting_ns},
                    {"ranks", sum.processes.size()}});
  }
  return {{"rows", std::move(rows)}, {"left_out", left_out(sums.size())}};
}

ordered_json page_delays_json(const Run& run) {
  ordered_json rows = ordered_json::array();
  std::uint64_t ns = 0;
  const std::vector<Delay> delays = by_place(run, run.delays, length_of);
  for (const Delay& delay : delays) {
    ns += length_of(delay);
    if (rows.size() == kMostPageRows) continue;
    rows.push_back({{"process", delay.process},
                    {"mpi", text_or_null(run, delay.function)},
                    {"site", site_json(run, call_site_at(run, delay.stack))},
                    {"waits", delay.waits},
                    {"direct_ns", static_cast<std::uint64_t>(delay.direct_ns)},
                    {"passed_on_ns", static_cast<std::uint64_t>(delay.passed_on_ns)}});
  }
  return {{"rows", std::move(rows)}, {"left_out", left_out(delays.size())}, {"ns", ns}};
}

}  // namespace uctrace
