#include "log-merger/partitions/partitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "log-merger/partitions/partition_lines.hpp"
#include "log-merger/partitions/partition_matching.hpp"
#include "log-merger/partitions/partition_uses.hpp"

namespace uctrace::merge {

namespace {

// A damaged log may claim any number of partitions. The excess is left out, with a note.
constexpr std::size_t kMostEvents = std::size_t{1} << 24;
constexpr std::size_t kMostLines = std::size_t{1} << 24;

class Partitions {
 public:
  explicit Partitions(Job& job) : job_(job), run_(job.run) {}

  void run() {
    count_polls();
    const RequestOfMaker requests = find_partition_requests(job_);
    if (requests.empty()) return;
    std::set<ProcessIndex> with_requests;
    for (const PartitionRequest& request : run_.partition_requests) {
      with_requests.insert(ProcessIndex(request.process));
    }
    for (const ProcessIndex process : with_requests) add_uses(process, requests);
    join_uses();
    for (std::size_t i = 0; i < uses_.size(); ++i) add_lines_of(i);
    if (events_left_out_ + uses_without_lines_ > 0) {
      run_.notes.push_back(fmt::format(
          "partitions: there are too many to list all: {} events, and the lines of {} sends, are "
          "left out",
          events_left_out_, uses_without_lines_));
    }
  }

 private:
  void count_polls() {
    for (const ProcessIndex process : job_.logs.indexes()) {
      const ProcessLog& log = job_.logs[process];
      if (log.totals.mpi_polls == 0) continue;
      run_.partition_polls.push_back({static_cast<std::uint32_t>(process.number()),
                                      log.totals.mpi_polls,
                                      log.clock.duration_ns(log.totals.mpi_poll_ticks)});
    }
  }

  PartitionRequest& request(std::int32_t place) {
    return run_.partition_requests[static_cast<std::size_t>(place)];
  }
  PartitionOperation& operation(std::int64_t place) {
    return run_.partition_operations[static_cast<std::size_t>(place)];
  }

  // Operations come by their request, events of a process by time.
  void add_uses(ProcessIndex process, const RequestOfMaker& requests) {
    const std::size_t left = kMostEvents - run_.partition_events.size();
    UsesOfProcess found = find_partition_uses(job_, process, requests, left);
    events_left_out_ += found.left_out;
    std::vector<std::size_t> order(found.uses.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return found.uses[a].row.request < found.uses[b].row.request;
    });
    std::vector<std::int64_t> place(order.size());
    for (const std::size_t i : order) {
      place[i] = static_cast<std::int64_t>(uses_.size());
      ++request(found.uses[i].row.request).starts;
      uses_.push_back(std::move(found.uses[i]));
    }
    for (PartitionEvent& event : found.events) {
      if (event.operation >= 0) event.operation = place[static_cast<std::size_t>(event.operation)];
    }
    std::stable_sort(
        found.events.begin(), found.events.end(),
        [](const PartitionEvent& a, const PartitionEvent& b) { return a.t_ns < b.t_ns; });
    run_.partition_events.insert(run_.partition_events.end(), found.events.begin(),
                                 found.events.end());
  }

  // The k-th use of a request belongs to the k-th one of its partner.
  void join_uses() {
    std::vector<std::int64_t> first(run_.partition_requests.size(), -1);
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      PartitionOperation& row = uses_[i].row;
      settle(uses_[i]);
      std::int64_t& begin = first[static_cast<std::size_t>(row.request)];
      if (begin < 0) begin = static_cast<std::int64_t>(i);
      run_.partition_operations.push_back(row);
    }
    for (PartitionOperation& row : run_.partition_operations) {
      const std::int32_t partner = request(row.request).partner;
      if (partner < 0 || row.number >= request(partner).starts) continue;
      row.partner = first[static_cast<std::size_t>(partner)] + row.number;
    }
  }

  // Results that need all calls.
  void settle(PartitionUse& use) {
    const PartitionRequest& of = request(use.row.request);
    if (use.row.ready != of.partitions || !of.sends) use.row.t_ready_ns = use.row.ready_call = -1;
    std::vector<std::int64_t> seen;
    for (const PartitionMark& mark : use.arrived) {
      const bool before = use.row.t_complete_ns < 0 || mark.ns < use.row.t_complete_ns;
      if (before) seen.push_back(mark.first);
    }
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    use.row.arrived = static_cast<std::uint32_t>(seen.size());
  }

  // When each partition of a receive was first seen to have arrived: by an MPI_Parrived, else by
  // the completion of the receive.
  std::vector<PartitionLine> arrivals(const PartitionUse& receive, std::uint32_t partitions) {
    PartitionLine by_completion;
    by_completion.t_arrived_ns = receive.row.t_complete_ns;
    by_completion.arrived_call = receive.row.complete_call;
    std::vector<PartitionLine> lines(partitions, by_completion);
    for (const PartitionMark& mark : receive.arrived) {
      PartitionLine& line = lines[static_cast<std::size_t>(mark.first)];
      if (line.t_arrived_ns >= 0 && line.t_arrived_ns <= mark.ns) continue;
      line.t_arrived_ns = mark.ns;
      line.arrived_call = mark.call;
      line.by_parrived = true;
    }
    return lines;
  }

  static std::vector<std::int64_t> ready_times(const PartitionUse& send, std::uint32_t partitions) {
    std::vector<std::int64_t> times(partitions, -1);
    for (const PartitionMark& mark : send.ready) {
      for (std::int64_t i = mark.first; i <= mark.last; ++i) {
        times[static_cast<std::size_t>(i)] = mark.ns;
      }
    }
    return times;
  }

  void add_lines_of(std::size_t place) {
    const PartitionOperation& row = run_.partition_operations[place];
    const PartitionRequest& send = request(row.request);
    if (!send.sends || row.partner < 0) return;
    const PartitionRequest& receive = request(operation(row.partner).request);
    const std::uint32_t sends = send.partitions, receives = receive.partitions;
    if (sends == 0 || receives == 0) return;
    if (run_.partition_lines.size() + sends + receives > kMostLines) {
      ++uses_without_lines_;
      return;
    }
    const std::vector<std::int64_t> ready = ready_times(uses_[place], sends);
    const std::vector<PartitionLine> arrived =
        arrivals(uses_[static_cast<std::size_t>(row.partner)], receives);
    for (std::uint32_t i = 0; i < sends; ++i) {
      const PartitionRange others = overlapping(i, sends, receives);
      for (std::uint64_t j = others.first; j < others.end; ++j) {
        PartitionLine line = arrived[j];
        line.send = static_cast<std::int64_t>(place);
        line.receive = row.partner;
        line.send_partition = i;
        line.receive_partition = static_cast<std::uint32_t>(j);
        line.bytes = common_bytes(i, sends, j, receives, send.bytes);
        line.t_ready_ns = ready[i];
        run_.partition_lines.push_back(line);
      }
    }
  }

  Job& job_;
  Run& run_;
  std::vector<PartitionUse> uses_;  // as Run::partition_operations
  std::uint64_t events_left_out_ = 0, uses_without_lines_ = 0;
};

}  // namespace

void find_partitions(Job& job) { Partitions(job).run(); }

}  // namespace uctrace::merge
