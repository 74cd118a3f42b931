// Queries on a loaded log and its operations.
#include <algorithm>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

bool took_message(std::int32_t status) {
  constexpr std::int32_t kTruncated = -9;  // UCS_ERR_MESSAGE_TRUNCATED
  return status == 0 || status == kTruncated;
}

bool ProcessLog::whole(std::int64_t begin_ns, std::int64_t end_ns) const {
  const std::int64_t begin = begin_ns >= 0 ? begin_ns : end_ns;
  const std::int64_t end = std::max(begin, end_ns);
  const auto first =
      std::partition_point(recorded.gaps.begin(), recorded.gaps.end(), [&](const Gap& gap) {
        return gap.end_tick != UINT64_MAX && clock.job_ns(gap.end_tick) < begin;
      });
  return first == recorded.gaps.end() ||
         (first->begin_tick != 0 && clock.job_ns(first->begin_tick) > end);
}

InterfaceIndex ProcessLog::interface_at(std::uint16_t id, std::uint64_t tick) const {
  const auto later = std::partition_point(
      interfaces.begin(), interfaces.end(),
      [&](const Interface& row) { return row.id < id || (row.id == id && row.tick <= tick); });
  const auto at = later - interfaces.begin();
  if (at > 0 && later[-1].id == id) return InterfaceIndex(at - 1);
  return later != interfaces.end() && later->id == id ? InterfaceIndex(at) : InterfaceIndex();
}

IndexOf<Worker> ProcessLog::worker_at(std::uint64_t handle, std::uint64_t tick) const {
  const IndexOf<Worker> at = row_at(workers, handle, tick);
  return at != kNone && tick <= workers[at].end_tick ? at : IndexOf<Worker>();
}

std::vector<RowSpan> spans_of_processes(const Job& job, std::size_t rows,
                                        RowSpan ProcessLog::*of_process) {
  std::vector<RowSpan> spans;
  for (const ProcessLog& log : job.logs) spans.push_back(log.*of_process);
  const bool told = std::any_of(spans.begin(), spans.end(),
                                [&](const RowSpan& span) { return span.end == rows; });
  return told ? spans : std::vector<RowSpan>{{0, rows}};
}

std::vector<ProcessRows> rows_of_processes(const Job& job) {
  const auto uct = spans_of_processes(job, job.uct.size(), &ProcessLog::uct_rows);
  const auto ucp = spans_of_processes(job, job.ucp.size(), &ProcessLog::ucp_rows);
  if (uct.size() != ucp.size()) return {{{0, job.uct.size()}, {0, job.ucp.size()}}};
  std::vector<ProcessRows> rows;
  for (std::size_t i = 0; i < uct.size(); ++i) rows.push_back({uct[i], ucp[i]});
  return rows;
}

bool UcpOp::received() const {
  if (is(log::UcpFamily::stream_receive)) {
    return accepted() && ended && end_status == 0;
  }
  if (is(log::UcpFamily::am_receive)) {
    return accepted();
  }
  return is(log::UcpFamily::tag_receive) && accepted() && completed && took_message(end_status);
}

}  // namespace uctrace::merge
