#include "log-merger/reports/counter_tables.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "log-merger/model/json_text.hpp"
#include "log-merger/reports/counter_names.hpp"

namespace uctrace {
namespace {

using log::CounterClass;
using log::CounterKind;
using log::CounterSnapshot;
using log::CounterTotal;
using Job = std::vector<CounterSnapshot>;

const Column kMessages = {"messages", "messages", Unit::count};
const Column kBytes = {"bytes", "bytes", Unit::bytes};

Table pairs(const Job& job) {
  Table table{.key = "pairs",
              .title = "By class and rank pair (who counted -> peer)",
              .columns = {{"class", "class"},
                          {"rank", "rank", Unit::count},
                          {"peer", "peer", Unit::count},
                          kMessages,
                          kBytes},
              .rows = {}};
  const log::CountedSides sides(job);
  const log::CounterMatrix matrix = log::matrix_of(job, sides);
  for (std::size_t i = 0; i < log::kCounterClasses; ++i) {
    const std::string name(log::name_of(static_cast<CounterClass>(i)));
    for (const auto& [pair, cell] : matrix.cells[i]) {
      table.rows.push_back({Cell(name), side_cell(sides, pair.first), side_cell(sides, pair.second),
                            Cell(cell.total.messages), Cell(cell.total.bytes)});
    }
  }
  return table;
}

// The lower end of a bin; the upper end is below twice that.
std::uint64_t least_of(std::size_t bin) { return bin == 0 ? 0 : std::uint64_t{1} << (bin - 1); }

Table sizes(const Job& job) {
  Table table{.key = "sizes",
              .title = "By class and size (from that size on, below twice as much)",
              .columns = {{"class", "class"},
                          {"bin", "bin", Unit::count},
                          {"from_bytes", "from", Unit::bytes},
                          kMessages,
                          kBytes},
              .rows = {}};
  std::map<std::pair<CounterKind, unsigned>, CounterTotal> sums;
  for (const CounterSnapshot& process : job) {
    for (const auto& [key, total] : process.rows) {
      const CounterKind kind = log::kind_of(key);
      if (has_sizes(kind)) {
        sums[{kind, log::bin_of(key)}] += total;
      }
    }
  }
  for (const auto& [of, total] : sums) {
    const auto which = static_cast<CounterClass>(static_cast<unsigned>(of.first) - 1);
    table.rows.push_back({Cell(std::string(log::name_of(which))), Cell(std::uint64_t{of.second}),
                          Cell(least_of(of.second)), Cell(total.messages), Cell(total.bytes)});
  }
  return table;
}

Table transports(const Job& job) {
  Table table{.key = "transports",
              .title = "By transport, device and operation (bytes with headers)",
              .columns = {{"transport", "transport"},
                          {"device", "device"},
                          {"operation", "operation"},
                          {"operations", "operations", Unit::count},
                          kBytes},
              .rows = {}};
  std::map<std::tuple<std::string, std::string, std::string>, CounterTotal> sums;
  for (const CounterSnapshot& process : job) {
    for (const auto& [key, total] : process.rows) {
      if (log::kind_of(key) != CounterKind::interface) continue;
      const CountedOperation of = counted_operation(process, log::subject_of(key));
      sums[{of.transport, of.device, std::string(of.operation)}] += total;
    }
  }
  for (const auto& [of, total] : sums) {
    table.rows.push_back({Cell(std::get<0>(of)), Cell(std::get<1>(of)), Cell(std::get<2>(of)),
                          Cell(total.messages), Cell(total.bytes)});
  }
  return table;
}

Table devices(const Job& job) {
  Table table{.key = "devices",
              .title = "By device (of transports: operations of UCT, bytes with headers)",
              .columns = {{"device", "device"},
                          {"of", "of"},
                          {"operations", "operations", Unit::count},
                          kBytes},
              .rows = {}};
  std::map<std::string, CounterTotal> sums;
  for (const CounterSnapshot& process : job) {
    for (const auto& [key, total] : process.rows) {
      if (log::kind_of(key) != CounterKind::interface) continue;
      sums[counted_operation(process, log::subject_of(key)).device] += total;
    }
  }
  for (const auto& [device, total] : sums) {
    table.rows.push_back(
        {Cell(device), Cell(std::string("transport")), Cell(total.messages), Cell(total.bytes)});
  }
  return table;
}

Cell text_cell(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

Table gpus(const Job& job) {
  Table table{.key = "gpus",
              .title = "By GPU (UCP operations whose data lay in its memory)",
              .columns = {{"host", "host"},
                          {"gpu", "gpu"},
                          {"bus", "bus"},
                          {"memory", "memory"},
                          {"data", "data"},
                          {"operations", "operations", Unit::count},
                          kBytes},
              .rows = {}};
  using Labels = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::map<Labels, CounterTotal> sums;
  for (const CounterSnapshot& process : job) {
    for (const auto& [key, total] : process.rows) {
      if (log::kind_of(key) != CounterKind::gpu) continue;
      const CountedData of = counted_data(process, log::subject_of(key));
      sums[{process.host(), of.gpu, of.bus, std::string(of.memory), std::string(of.data)}] += total;
    }
  }
  for (const auto& [of, total] : sums) {
    const auto& [host, gpu, bus, memory, data] = of;
    table.rows.push_back({Cell(host), text_cell(gpu), text_cell(bus), Cell(memory), Cell(data),
                          Cell(total.messages), Cell(total.bytes)});
  }
  return table;
}

Table functions(const Job& job) {
  Table table{.key = "functions",
              .title = "By MPI function (bytes that calls sent)",
              .columns = {{"function", "function"}, {"calls", "calls", Unit::count}, kBytes},
              .rows = {}};
  std::map<std::string, CounterTotal> sums;
  for (const CounterSnapshot& process : job) {
    for (const auto& [key, total] : process.rows) {
      if (log::kind_of(key) != CounterKind::mpi_function) continue;
      sums[counted_name(process.functions, log::subject_of(key))] += total;
    }
  }
  for (const auto& [name, total] : sums) {
    table.rows.push_back({Cell(name), Cell(total.messages), Cell(total.bytes)});
  }
  return table;
}

Table communicators(const Job& job) {
  Table table{.key = "communicators",
              .title = "Collective calls by communicator and rank",
              .columns = {{"rank", "rank", Unit::count},
                          {"communicator", "communicator"},
                          {"size", "size", Unit::count},
                          {"kind", "kind"},
                          {"calls", "calls", Unit::count},
                          kBytes},
              .rows = {}};
  const log::CountedSides sides(job);
  for (std::size_t i = 0; i < job.size(); ++i) {
    const CounterSnapshot& process = job[i];
    std::map<std::pair<std::uint64_t, CounterKind>, CounterTotal> sums;
    for (const auto& [key, total] : process.rows) {
      const CounterKind kind = log::kind_of(key);
      if (!is_collective_kind(kind)) continue;
      sums[{log::subject_of(key), kind}] += total;
    }
    for (const auto& [of, total] : sums) {
      const auto comm = process.communicators.find(static_cast<std::uint32_t>(of.first));
      const bool known = comm != process.communicators.end();
      table.rows.push_back(
          {side_cell(sides, sides.of(i)),
           known && !comm->second.label.empty() ? Cell(comm->second.label)
                                                : Cell(fmt::format("#{}", of.first)),
           known ? Cell(std::uint64_t{comm->second.size}) : Cell(),
           Cell(std::string(collective_name(of.second))), Cell(total.messages), Cell(total.bytes)});
    }
  }
  return table;
}

Table processes(const Job& job) {
  Table table{.key = "processes",
              .title = "Processes (unplaced: counted, but in no row)",
              .columns = {{"rank", "rank", Unit::count},
                          {"host", "host"},
                          {"pid", "pid", Unit::count},
                          {"closed", "closed"},
                          {"rows", "rows", Unit::count},
                          {"file_bytes", "file", Unit::bytes},
                          {"unplaced", "unplaced", Unit::count},
                          {"lost_names", "lost names", Unit::count}},
              .rows = {}};
  const log::CountedSides sides(job);
  for (std::size_t i = 0; i < job.size(); ++i) {
    const CounterSnapshot& process = job[i];
    table.rows.push_back({rank_cell(sides.of(i)), Cell(process.host()),
                          Cell(std::uint64_t{process.page.pid}),
                          Cell(std::string(process.page.closed != 0 ? "yes" : "no")),
                          Cell(process.row_count), Cell(process.file_bytes),
                          Cell(process.unplaced_messages()), Cell(process.page.lost_names)});
  }
  return table;
}

constexpr CountersBy kEach[] = {
    CountersBy::pairs, CountersBy::sizes,     CountersBy::transports,    CountersBy::devices,
    CountersBy::gpus,  CountersBy::functions, CountersBy::communicators, CountersBy::processes};

void write_json(std::ostream& out, const std::vector<Table>& tables) {
  nlohmann::ordered_json json;
  json["schema"] = 1;
  for (const Table& table : tables) json[table.key] = to_json(table);
  out << dump(json, 2) << '\n';
}

}  // namespace

Table counters_table(const Job& job, CountersBy by) {
  switch (by) {
    case CountersBy::sizes:
      return sizes(job);
    case CountersBy::transports:
      return transports(job);
    case CountersBy::devices:
      return devices(job);
    case CountersBy::gpus:
      return gpus(job);
    case CountersBy::functions:
      return functions(job);
    case CountersBy::communicators:
      return communicators(job);
    case CountersBy::processes:
      return processes(job);
    case CountersBy::pairs:
    case CountersBy::all:
      break;
  }
  return pairs(job);
}

void write_counters(std::ostream& out, const Job& job, const CountersOptions& options) {
  std::vector<Table> tables;
  for (const CountersBy by : kEach) {
    if (options.by != CountersBy::all && options.by != by) continue;
    tables.push_back(counters_table(job, by));
    if (options.limit) tables.back().keep_first(*options.limit);
  }
  if (options.format == Format::json) {
    write_json(out, tables);
    return;
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Table& table = tables[i];
    if (options.format == Format::ndjson) {
      write_ndjson(out, table, tables.size() > 1);
      continue;
    }
    if (i > 0) out << '\n';
    if (options.format == Format::csv) {
      write_csv(out, table);
    } else {
      write_text(out, table, options.colour, options.width);
    }
  }
}

}  // namespace uctrace
