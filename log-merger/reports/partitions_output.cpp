#include "log-merger/reports/partitions_output.hpp"

#include <iostream>
#include <string>
#include <vector>

#include "log-merger/reports/info_output.hpp"
#include "log-merger/reports/report.hpp"

namespace uctrace {

namespace {

using Row = std::vector<Cell>;

// -1 is the model's "not known".
Cell known(std::int64_t number) {
  return number < 0 ? Cell() : Cell(static_cast<std::uint64_t>(number));
}

class Tables {
 public:
  explicit Tables(const RowSource& source) : source_(source), run_(source.run()) {}

  Table requests() const {
    Table table{.key = "partition_requests",
                .title = "Partitioned requests",
                .columns = {{"request", "request", Unit::count},
                            {"side", "side"},
                            {"rank", "rank", Unit::count},
                            {"peer", "peer", Unit::count},
                            {"communicator", "communicator"},
                            {"tag", "tag", Unit::count},
                            {"partitions", "partitions", Unit::count},
                            {"bytes", "bytes", Unit::bytes},
                            {"starts", "starts", Unit::count},
                            {"partner", "partner", Unit::count},
                            {"match", "match"},
                            {"t_init_ns", "made", Unit::nanoseconds}},
                .rows = {}};
    std::int64_t number = 0;
    for (const PartitionRequest& request : run_.partition_requests) {
      table.rows.push_back({known(number++), Cell(request.sends ? "send" : "receive"),
                            rank_of(static_cast<std::int32_t>(request.process)),
                            known(request.peer), communicator(request), known(request.tag),
                            request.partitions == 0 ? Cell() : known(request.partitions),
                            Cell(request.bytes), known(request.starts), known(request.partner),
                            Cell(name_of(request.match)), known(request.t_init_ns)});
    }
    return table;
  }

  Table uses() const {
    Table table{.key = "partition_operations",
                .title = "Uses of partitioned requests",
                .columns = {{"operation", "operation", Unit::count},
                            {"request", "request", Unit::count},
                            {"use", "use", Unit::count},
                            {"side", "side"},
                            {"rank", "rank", Unit::count},
                            {"partner", "partner", Unit::count},
                            {"ready", "ready", Unit::count},
                            {"arrived", "arrived", Unit::count},
                            {"t_start_ns", "started", Unit::nanoseconds},
                            {"t_ready_ns", "all ready", Unit::nanoseconds},
                            {"t_complete_ns", "complete", Unit::nanoseconds}},
                .rows = {}};
    for_each_row(source_, Wanted<PartitionOperation>::all(),
                 [&](const PartitionOperation& use, std::size_t number) {
                   const PartitionRequest* const request = request_of(use);
                   const bool sends = request != nullptr && request->sends;
                   const Cell side = request == nullptr ? Cell() : Cell(sends ? "send" : "receive");
                   table.rows.push_back(
                       {known(static_cast<std::int64_t>(number)), known(use.request),
                        known(use.number), side, rank_of(request), known(use.partner),
                        sends ? known(use.ready) : Cell(), sends ? Cell() : known(use.arrived),
                        known(use.t_start_ns), known(use.t_ready_ns), known(use.t_complete_ns)});
                 });
    return table;
  }

  Table lines() const {
    Table table{.key = "partition_lines",
                .title = "Partitions of senders and receivers that overlap",
                .columns = {{"send", "send", Unit::count},
                            {"receive", "receive", Unit::count},
                            {"src", "from", Unit::count},
                            {"dst", "to", Unit::count},
                            {"send_partition", "sent", Unit::count},
                            {"receive_partition", "received", Unit::count},
                            {"bytes", "bytes", Unit::bytes},
                            {"t_ready_ns", "ready", Unit::nanoseconds},
                            {"t_arrived_ns", "arrived", Unit::nanoseconds},
                            {"after_ns", "after", Unit::nanoseconds},
                            {"by", "seen by"}},
                .rows = {}};
    RowWindow<PartitionOperation> operations(source_, Wanted<PartitionOperation>::all());
    for_each_row(
        source_, Wanted<PartitionLine>::all(), [&](const PartitionLine& line, std::size_t) {
          const auto at = [&](std::int64_t place) {
            return place < 0 ? Cell()
                             : rank_of(request_of(operations.row(static_cast<std::size_t>(place))));
          };
          const bool both = line.t_ready_ns >= 0 && line.t_arrived_ns >= 0;
          const std::int64_t after_ns = line.t_arrived_ns - line.t_ready_ns;
          // Clock errors may reverse the order.
          const Cell after = !both          ? Cell()
                             : after_ns < 0 ? Cell(static_cast<double>(after_ns))
                                            : known(after_ns);
          table.rows.push_back({known(line.send), known(line.receive), at(line.send),
                                at(line.receive), known(line.send_partition),
                                known(line.receive_partition), Cell(line.bytes),
                                known(line.t_ready_ns), known(line.t_arrived_ns), after,
                                line.arrived_call < 0 ? Cell() : Cell(seen_by(line))});
        });
    return table;
  }

  Table events() const {
    Table table{.key = "partition_events",
                .title = "Events of partitioned requests",
                .columns = {{"event", "event"},
                            {"rank", "rank", Unit::count},
                            {"lane", "thread", Unit::count},
                            {"request", "request", Unit::count},
                            {"operation", "operation", Unit::count},
                            {"partition", "partition", Unit::count},
                            {"call", "call", Unit::count},
                            {"t_ns", "time", Unit::nanoseconds}},
                .rows = {}};
    for_each_row(
        source_, Wanted<PartitionEvent>::all(), [&](const PartitionEvent& event, std::size_t) {
          table.rows.push_back({Cell(name_of(event.kind)),
                                rank_of(static_cast<std::int32_t>(event.process)),
                                known(event.lane), known(event.request), known(event.operation),
                                known(event.partition), known(event.call), known(event.t_ns)});
        });
    return table;
  }

  Table polls() const {
    Table table{.key = "partition_polls",
                .title = "Calls of MPI_Parrived that found nothing and were only counted",
                .columns = {{"rank", "rank", Unit::count},
                            {"calls", "calls", Unit::count},
                            {"time_ns", "time", Unit::nanoseconds}},
                .rows = {}};
    for (const PartitionPolls& polls : run_.partition_polls) {
      table.rows.push_back(
          {rank_of(static_cast<std::int32_t>(polls.process)), Cell(polls.calls), known(polls.ns)});
    }
    return table;
  }

 private:
  static std::string seen_by(const PartitionLine& line) {
    return line.by_parrived ? "MPI_Parrived" : "completion";
  }

  // nullptr: in a damaged store the request may not exist.
  const PartitionRequest* request_of(const PartitionOperation& use) const {
    return use.request < 0 ? nullptr
                           : &run_.partition_requests[static_cast<std::size_t>(use.request)];
  }
  Cell rank_of(const PartitionRequest* request) const {
    return request == nullptr ? Cell() : rank_of(static_cast<std::int32_t>(request->process));
  }

  Cell rank_of(std::int32_t process) const {
    return process < 0 ? Cell() : known(run_.processes[static_cast<std::size_t>(process)].rank);
  }

  Cell communicator(const PartitionRequest& request) const {
    if (request.communicator < 0) return {};
    return run_.texts[run_.communicators[static_cast<std::size_t>(request.communicator)].name];
  }

  const RowSource& source_;
  const Run& run_;
};

}  // namespace

Table partitions_table(const RowSource& source, PartitionsList list) {
  const Tables tables(source);
  switch (list) {
    case PartitionsList::requests:
      return tables.requests();
    case PartitionsList::uses:
      return tables.uses();
    case PartitionsList::lines:
      return tables.lines();
    case PartitionsList::events:
      return tables.events();
    case PartitionsList::polls:
      return tables.polls();
  }
  return {};
}

namespace {

// What is not among the rows.
std::vector<std::string> notes_of_partitions(const Run& run) {
  std::vector<std::string> notes;
  for (const std::string& note : run.notes) {
    if (note.starts_with("partitions: ")) notes.push_back(note);
  }
  return notes;
}

}  // namespace

void write_partitions(std::ostream& out, const RowSource& source,
                      const PartitionsOptions& options) {
  Table table = partitions_table(source, options.list);
  const std::vector<std::string> left_out = notes_of_partitions(source.run());
  if (options.format != Format::table) {
    for (const std::string& note : left_out) std::cerr << "uctrace: note: " << note << '\n';
  }
  if (options.limit) table.keep_first(*options.limit);
  switch (options.format) {
    case Format::table:
      write_run_line(out, source.run());
      out << '\n';
      write_text(out, table, options.colour, options.width);
      out << "\n# " << identities_line(source.run()) << '\n';
      for (const std::string& note : left_out) out << "# note: " << note << '\n';
      write_recording_note(out, source.run());
      return;
    case Format::json:
      out << dump(to_json(table), 2) << '\n';
      return;
    case Format::csv:
      return write_csv(out, table);
    case Format::ndjson:
      return write_ndjson(out, table, false);
  }
}

}  // namespace uctrace
