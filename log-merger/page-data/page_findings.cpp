#include "log-merger/page-data/page_findings.hpp"

#include <optional>

#include "log-merger/findings/finding.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/latencies.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

ordered_json or_null(const std::optional<std::uint64_t>& number) {
  return number ? ordered_json(*number) : ordered_json(nullptr);
}

}  // namespace

ordered_json page_findings_json(const RowSource& source, const std::string& folder) {
  ordered_json rows = ordered_json::array();
  for (const findings::Finding& finding : findings::findings_of(source)) {
    rows.push_back({{"rule", finding.rule},
                    {"finding", finding.what},
                    {"advice", advice_of(finding, folder)},
                    {"command", command_of(finding, folder)},
                    {"share", finding.share},
                    {"doubts_records", finding.doubts_records}});
  }
  return rows;
}

ordered_json page_protocols_json(const RowSource& source) {
  const Run& run = source.run();
  ordered_json rows = ordered_json::array();
  for (const ProtocolSize& row :
       by_protocol_and_size(run, latency_sums(source, Filter(source, {})))) {
    const LatencyFigures figures = figures_of(row.all);
    const std::optional<Estimate> expected = estimate_of(run, row);
    rows.push_back({{"protocol", row.protocol == kNoText ? ordered_json(nullptr)
                                                         : ordered_json(run.texts[row.protocol])},
                    {"reach", name_of(row.reach)},
                    {"size", row.size},
                    {"messages", figures.messages},
                    {"bytes", figures.bytes},
                    {"untimed", figures.untimed},
                    {"median_ns", or_null(figures.median_ns)},
                    {"p99_ns", or_null(figures.p99_ns)},
                    {"per_second_bytes", or_null(figures.per_second_bytes)},
                    {"ucx_least_ns", expected ? ordered_json(expected->least_ns) : ordered_json()},
                    {"ucx_most_ns", expected ? ordered_json(expected->most_ns) : ordered_json()}});
  }
  return rows;
}

}  // namespace uctrace
