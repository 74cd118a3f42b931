#include "log-merger/load/operation_ends.hpp"

#include <algorithm>
#include <unordered_set>

namespace uctrace::merge {

namespace {

using log::RecordType;

std::size_t count(const RowSpan& rows) { return rows.end - rows.begin; }

// Calls take(row, end) for the last end of each operation: only a damaged log has several. Ends
// without an operation in the log go to outside(end), once each.
template <typename End, typename Ids, typename Take, typename Outside>
void each_last(const std::vector<End>& ends, const Ids& rows_by_id, const RowSpan& rows, Take take,
               Outside outside) {
  std::vector<bool> ended(count(rows));
  std::unordered_set<log::Id> ended_outside;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const auto found = rows_by_id.find(end->operation);
    if (found == rows_by_id.end()) {
      if (ended_outside.insert(end->operation).second) outside(*end);
      continue;
    }
    const auto row = found->second.place();
    if (!ended[row - rows.begin]) take(row, *end);
    ended[row - rows.begin] = true;
  }
}

}  // namespace

OperationEnds::OperationEnds(Job& job, ProcessIndex process)
    : job_(job), process_(process), log_(job.logs[process]) {}

void OperationEnds::make_room() {
  const log::LogFile& file = log_.file;
  const std::size_t uct =
      std::min(file.event_count(RecordType::uct_completion), count(log_.uct_rows));
  const std::size_t ucp =
      std::min(file.event_count(RecordType::ucp_completion), count(log_.ucp_rows));
  log_.uct_by_id.reserve(uct);
  log_.ucp_by_id.reserve(count(log_.ucp_rows));
  uct_ends_.reserve(uct);
  ucp_ends_.reserve(ucp);
}

// After all operations are loaded, ends of others are useless, except for what they tell about the
// time before a window: a damaged log may have any number of them.
template <typename End, typename Ids>
void OperationEnds::keep(std::vector<End>& ends, const End& end, const Ids& rows_by_id,
                         std::size_t left) {
  ++taken_;
  const bool may_be_of_log = left != 0 || rows_by_id.find(end.operation) != rows_by_id.end();
  if (may_be_of_log || !log_.recorded.whole()) ends.push_back(end);
}

void OperationEnds::take(const log::UctCompletionView& view, std::size_t left) {
  keep(uct_ends_, {view.r.operation, view.r.tick, view.status()}, log_.uct_by_id, left);
}

void OperationEnds::take(const log::UcpCompletionView& view, std::size_t left) {
  keep(ucp_ends_,
       {view.r.operation, view.status(), view.r.tick, view.r.sender_tag, view.r.length,
        view.of_receive, view.has_arrival_tick()},
       log_.ucp_by_id, left);
}

void OperationEnds::finish() {
  end_uct_operations();
  end_ucp_operations();
  if (log_.recorded.whole()) useless_ = taken_ - uct_completions_ - ucp_completions_;
}

void OperationEnds::end_uct_operations() {
  each_last(
      uct_ends_, log_.uct_by_id, log_.uct_rows,
      [&](std::size_t row, const UctEnd& end) {
        UctOp& op = job_.uct[row];
        if (!op.has_end) return;
        op.complete_ns = log_.clock.job_ns(end.tick);
        op.end_status = end.status;
        ++uct_completions_;
      },
      [&](const UctEnd&) { log_.uct_ends_of_outside += !log_.recorded.whole(); });
  uct_ends_ = {};
}

void OperationEnds::end_ucp_operations() {
  each_last(
      ucp_ends_, log_.ucp_by_id, log_.ucp_rows,
      [&](std::size_t row, const UcpEnd& end) {
        UcpOp& op = job_.ucp[row];
        op.ended = op.completed = true;
        ++ucp_completions_;
        op.end_status = end.status;
        op.end_ns = log_.clock.job_ns(end.tick);
        op.end_from = end.has_arrival_tick ? TimeFrom::arrival : TimeFrom::clock;
        if (op.is_receive()) {
          (op.is_stream() ? op.ended_in : op.sender_tag) = end.sender_tag;
          op.received_bytes = end.length;
        }
      },
      [&](const UcpEnd& end) { take_end_of_outside(end); });
  ucp_ends_ = {};
}

// For operations that began before a window: the end of a receive still tells what it took.
void OperationEnds::take_end_of_outside(const UcpEnd& end) {
  if (log_.recorded.whole()) return;
  ++log_.ucp_ends_of_outside;
  if (end.of_receive && took_message(end.status)) {
    outside_receives_.push_back(
        {process_, end.operation, end.sender_tag, log_.clock.job_ns(end.tick)});
  }
}

void OperationEnds::end_with_calls() {
  for (std::size_t i = log_.ucp_rows.begin; i < log_.ucp_rows.end; ++i) {
    UcpOp& op = job_.ucp[i];
    if ((op.flags & log::UcpOperation::kCallEnd) == 0 || op.completed || !op.ended) continue;
    const CallIndex index = call_around(job_, process_, op.lane, op.start_tick);
    const MpiCall* call = index == kNone ? nullptr : &job_.calls[index];
    const bool known = call != nullptr && call->start_tick == op.start_tick && !call->open;
    op.end_ns = known ? call->end_ns : -1;
    op.end_from = TimeFrom::mpi_call;
  }
}

void OperationEnds::add_totals() {
  job_.uct_completions += uct_completions_;
  job_.ucp_completions += ucp_completions_;
  job_.outside_receives.insert(job_.outside_receives.end(), outside_receives_.begin(),
                               outside_receives_.end());
}

}  // namespace uctrace::merge
