#include "log-merger/summaries/connections.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "log-merger/model/durations.hpp"

namespace uctrace {
namespace {

void add(ConnectionTotal& total, const ConnectionRow& row) {
  total.transport = row.transport;
  total.device = row.device;
  total.made_by = row.made_by;
  ++total.endpoints;
  total.unused += row.message_operations == 0;
  total.payload_bytes += row.payload_bytes;
  // An endpoint to an interface is connected at creation.
  if (row.t_connected_ns > row.t_created_ns) {
    const std::int64_t ns = duration_ns(row.t_created_ns, row.t_connected_ns);
    ++total.connected;
    add_ns(total.wireup_ns, ns);
    total.max_wireup_ns = std::max(total.max_wireup_ns, ns);
  }
  if (row.waited_ns > 0) {
    ++total.waited;
    add_ns(total.waited_ns, std::min(row.waited_ns, kLongestNs));
    total.max_waited_ns = std::max(total.max_waited_ns, row.waited_ns);
  }
}

bool is_slower(const ConnectionRow& a, const ConnectionRow& b) {
  return std::tie(b.waited_ns, a.first_message, a.process, a.t_created_ns) <
         std::tie(a.waited_ns, b.first_message, b.process, b.t_created_ns);
}

// Keeps the `most` slowest of those added.
class Slowest {
 public:
  explicit Slowest(std::size_t most) : most_(most) {}

  void add(const ConnectionRow& row) {
    if (row.waited_ns <= 0 || most_ == 0) return;
    rows_.push_back(row);
    if (rows_.size() >= 2 * most_ + 64) cut();
  }
  std::vector<ConnectionRow> finish() && {
    cut();
    return std::move(rows_);
  }

 private:
  void cut() {
    std::sort(rows_.begin(), rows_.end(), is_slower);
    if (rows_.size() > most_) rows_.resize(most_);
  }

  std::size_t most_;
  std::vector<ConnectionRow> rows_;
};

}  // namespace

Connections connections_of(const RowSource& source, std::size_t most) {
  const Run& run = source.run();
  std::map<std::tuple<TextId, TextId, MadeBy>, ConnectionTotal> totals;
  Slowest slowest(most);
  for_each_row(source, Wanted<ConnectionRow>::all(), [&](const ConnectionRow& row, std::size_t) {
    add(totals[{row.transport, row.device, row.made_by}], row);
    slowest.add(row);
  });
  Connections all;
  for (const auto& [key, total] : totals) all.totals.push_back(total);
  std::stable_sort(all.totals.begin(), all.totals.end(), [&](const auto& a, const auto& b) {
    const auto rank = [&](const ConnectionTotal& total) {
      return std::make_tuple(-total.waited_ns, ~total.payload_bytes, run.texts[total.transport],
                             run.texts[total.device], total.made_by);
    };
    return rank(a) < rank(b);
  });
  all.slowest = std::move(slowest).finish();
  return all;
}

}  // namespace uctrace
