// The page's data over time, compared with plain counts over the rows of the run.
#include "log-merger/page-data/page_data.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "log-merger/page-data/packed_slabs.hpp"
#include "log-merger/page-data/page_choice.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/time_slabs.hpp"
#include "log-merger/summaries/traffic_cells.hpp"
#include "tests/unit/page_tables.hpp"
#include "tests/unit/timed_run.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;
// All of a run in slabs.
struct Laid {
  Laid(const Run& run, std::size_t budget)
      : cells(kWindow), slabs(kWindow, run.processes.size(), budget) {
    for (const Message& message : run.messages) {
      if (const auto placed = cells.add(message, path_of(run, message))) {
        slabs.add(message, *placed);
      }
    }
    for (const Transfer& transfer : run.transfers) slabs.add(transfer, cells.add(transfer));
    for (const UcpOperationRow& row : run.ucp_operations) {
      slabs.add(row, cells.cell_of_message(static_cast<std::size_t>(row.message)));
    }
    for (const MpiCallRow& call : run.mpi_calls) slabs.add(call);
  }

  static constexpr TimeWindow kWindow{0, kDuration, false};
  TrafficCells cells;
  TimeSlabs slabs;
};

std::int64_t sum(const PageColumn& column) {
  std::int64_t total = 0;
  for (const std::int64_t value : column) total += value;
  return total;
}

std::int64_t cells_sum(const ordered_json& data, const char* key) {
  std::int64_t total = 0;
  for (const ordered_json& cell : cells_of(data)) total += cell[key].get<std::int64_t>();
  return total;
}

// Nanoseconds of a span that lie in another.
std::int64_t overlap(std::int64_t from, std::int64_t to, std::int64_t begin, std::int64_t end) {
  return std::max<std::int64_t>(0, std::min(to, end) - std::max(from, begin));
}

// Per process: busy time of a layer within a slab, by the definition.
template <typename Row, typename End>
std::int64_t busy_in(const std::vector<Row>& rows, std::uint32_t process, std::int64_t begin,
                     std::int64_t end, std::int64_t last, End end_of_row) {
  std::int64_t total = 0;
  for (const Row& row : rows) {
    if (row.process != process || row.t_start_ns < 0) continue;
    const std::int64_t until = std::min(last, end_or(end_of_row(row), last));
    total += overlap(row.t_start_ns, until, begin, end);
  }
  return total;
}

std::int64_t busy_of(const std::map<std::string, PageColumn>& table, std::int64_t process,
                     std::int64_t slab) {
  std::int64_t total = 0;
  for (std::size_t row = 0; row < table.at("process").size(); ++row) {
    const std::int64_t first = table.at("slab")[row];
    const std::int64_t end = first + table.at("length")[row];
    if (table.at("process")[row] == process && first <= slab && slab < end) {
      total += table.at("busy_ns")[row];
    }
  }
  return total;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("slabs of the page hold every message with a time once") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const Run run = timed_run(seed);
      const ordered_json data = page_data(run);
      const PageTables tables = unpack(data["packed"]);
      const auto& slabs = tables.at("slab_cells");
      const auto& paths = tables.at("slab_transfers");
      std::int64_t bytes = 0, wire_bytes = 0, count = 0, timed = 0, ns = 0;
      std::map<std::int64_t, std::int64_t> expected, found;
      const auto slab_ns = data["time"]["slab_ns"].get<std::int64_t>();
      for (const Message& message : run.messages) {
        if (message.t_start_ns < 0) continue;
        ++expected[message.t_start_ns / slab_ns];
        bytes += static_cast<std::int64_t>(message.bytes);
        if (message.t_end_ns >= 0) {
          ++timed;
          ns += std::max<std::int64_t>(0, message.t_end_ns - message.t_start_ns);
        }
        for (std::uint32_t k = 0; k < message.hops; ++k) {
          const Hop& hop = run.hops[message.first_hop + k];
          wire_bytes += static_cast<std::int64_t>(hop.wire_bytes);
          count += static_cast<std::int64_t>(hop.count);
        }
      }
      for (const Transfer& transfer : run.transfers) {
        if (transfer.message >= 0) continue;
        wire_bytes += static_cast<std::int64_t>(transfer.wire_bytes);
        ++count;
      }
      for (std::size_t row = 0; row < slabs.at("slab").size(); ++row) {
        found[slabs.at("slab")[row]] += slabs.at("messages")[row];
      }
      CHECK(found == expected);
      CHECK(sum(slabs.at("bytes")) == bytes);
      CHECK(timed > 0);
      for (const auto& table : {slabs, tables.at("cells")}) {
        CHECK(sum(table.at("timed")) == timed);
        CHECK(sum(table.at("ns")) == ns);
      }
      CHECK(sum(paths.at("wire_bytes")) == wire_bytes);
      CHECK(sum(paths.at("count")) == count);
      const auto without = data["time"]["messages_without_time"].get<std::int64_t>();
      CHECK(cells_sum(data, "messages") == sum(slabs.at("messages")) + without);
    }
  }

  TEST_CASE("activity is the time in progress, with any number of slabs") {
    const Run run = timed_run(7);
    std::vector<std::uint32_t> counts;
    for (const std::size_t budget : {std::size_t{1'000'000}, std::size_t{2'500}, std::size_t{1}}) {
      Laid laid(run, budget);
      const SlabTables slabs = laid.slabs.tables();
      const PageTables tables = unpack(pack(pack_slabs(slabs)));
      const TimeAxis& axis = slabs.axis;
      counts.push_back(axis.slabs);
      for (std::uint32_t process = 0; process < run.processes.size(); ++process) {
        for (std::uint32_t slab = 0; slab < axis.slabs; slab += 1 + axis.slabs / 60) {
          const std::int64_t begin = axis.slab_ns * slab, end = begin + axis.slab_ns;
          const auto check = [&](const char* name, const auto& rows, auto end_of_row) {
            CHECK(busy_of(tables.at(name), process, slab) ==
                  busy_in(rows, process, begin, end, kDuration, end_of_row));
          };
          check("mpi_activity", run.mpi_calls, [](const auto& row) { return row.t_end_ns; });
          check("ucp_activity", run.ucp_operations, [](const auto& row) { return row.t_end_ns; });
          check("uct_activity", run.transfers, [](const auto& row) { return end_of(row); });
        }
      }
      CHECK(sum(tables.at("mpi_activity").at("starts")) ==
            static_cast<std::int64_t>(run.mpi_calls.size()));
      CHECK(sum(tables.at("uct_activity").at("starts")) ==
            static_cast<std::int64_t>(run.transfers.size()));
    }
    CHECK(counts.front() == 4096);
    CHECK(std::is_sorted(counts.rbegin(), counts.rend()));
    CHECK(counts.back() == 16);
  }

  TEST_CASE("the sums of a coarser axis are those of the finer one") {
    const Run run = timed_run(9);
    const auto laid = [&](std::size_t budget) {
      Laid all(run, budget);
      const SlabTables slabs = all.slabs.tables();
      return std::pair(slabs.axis, unpack(pack(pack_slabs(slabs))));
    };
    const auto [fine_axis, fine] = laid(1'000'000);
    for (const std::size_t budget : {std::size_t{500}, std::size_t{1}}) {
      const auto [axis, coarse] = laid(budget);
      const std::int64_t times = fine_axis.slabs / axis.slabs;
      REQUIRE(times > 1);
      CHECK(axis.slab_ns == times * fine_axis.slab_ns);
      for (const auto& [name, column] :
           {std::pair("slab_cells", "bytes"), std::pair("slab_cells", "messages"),
            std::pair("slab_cells", "timed"), std::pair("slab_cells", "ns"),
            std::pair("slab_transfers", "wire_bytes"), std::pair("slab_transfers", "count")}) {
        std::map<std::int64_t, std::int64_t> expected, found;
        const auto& from = fine.at(name);
        const auto& to = coarse.at(name);
        for (std::size_t row = 0; row < from.at("slab").size(); ++row) {
          expected[from.at("slab")[row] / times] += from.at(column)[row];
        }
        for (std::size_t row = 0; row < to.at("slab").size(); ++row) {
          found[to.at("slab")[row]] += to.at(column)[row];
        }
        CHECK(found == expected);
      }
    }
  }

  TEST_CASE("what is told in detail are the first ones, of however many") {
    Random random(3);
    for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{700},
                                      std::uint64_t{19'999}, std::uint64_t{20'000}, UINT64_MAX}) {
      CAPTURE(limit);
      DetailChoice choice({0, 5'000, false}, limit);
      std::vector<MpiCallRow> calls(20'000);
      std::vector<std::int64_t> starts;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        calls[i].process = static_cast<std::uint32_t>(below(random, 3));
        calls[i].t_start_ns = static_cast<std::int64_t>(below(random, 5'000));  // several at once
        starts.push_back(calls[i].t_start_ns);
        choice.visit(calls[i], i);
      }
      const DetailChoice::Chosen chosen = choice.finish();
      std::sort(starts.begin(), starts.end());
      const std::int64_t cut = limit < starts.size() ? starts[limit] : 5'000;
      CHECK(chosen.events == calls.size());
      CHECK(chosen.to_ns == cut);
      DetailChoice::Numbers expected;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        if (calls[i].t_start_ns < cut) expected.push_back(i);
      }
      std::stable_sort(expected.begin(), expected.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(calls[a].process, calls[a].t_start_ns) <
               std::pair(calls[b].process, calls[b].t_start_ns);
      });
      CHECK(chosen.of(RowsOf::mpi_calls) == expected);
    }
  }

  TEST_CASE("a page of a span holds what the filter of the command line selects") {
    const Run run = timed_run(3);
    FilterSpec spec;
    spec.from_ns = 200'000;
    spec.to_ns = 600'000;
    const Filter filter(run, spec);
    const ordered_json data = page_data(run, {.from_ns = spec.from_ns, .to_ns = spec.to_ns});
    std::int64_t messages = 0, bytes = 0;
    for (const Message& message : run.messages) {
      const bool within = message.t_start_ns >= 200'000 && message.t_start_ns < 600'000;
      CHECK(filter.selects(message, path_of(run, message)) == within);
      messages += within;
      if (within) bytes += static_cast<std::int64_t>(message.bytes);
    }
    CHECK(cells_sum(data, "messages") == messages);
    CHECK(cells_sum(data, "bytes") == bytes);
    CHECK(sum(unpack(data["packed"]).at("slab_cells").at("messages")) == messages);
    CHECK(data["time"]["from_ns"] == 200'000);
    CHECK(data["time"]["is_part"] == true);
    CHECK(data["time"]["to_ns"] == 600'000);
    CHECK(data["time"]["messages_without_time"] == 0);
  }

  TEST_CASE("a rank is chosen by either end") {
    const Run run = timed_run(4);
    FilterSpec spec;
    spec.rank = {"1", "unknown"};
    const Filter filter(run, spec);
    for (const Message& message : run.messages) {
      const bool is_end =
          message.src == 1 || message.dst == 1 || message.src < 0 || message.dst < 0;
      CHECK(filter.selects(message, path_of(run, message)) == is_end);
    }
    for (const Transfer& transfer : run.transfers) {
      if (transfer.message >= 0) continue;
      const bool is_end = transfer.process == 1 || transfer.peer_process == 1;
      CHECK(filter.accepts_without_message(transfer) == is_end);
    }
  }

  TEST_CASE("single operations are embedded without a gap up to the limit") {
    const Run run = timed_run(5);
    const auto embedded = [](const ordered_json& data) {
      PageTables tables = unpack(data["packed"]);
      std::vector<std::int64_t> starts;
      for (const char* name : {"mpi_calls", "ucp_operations", "transfers", "messages"}) {
        const PageColumn& column = tables[name]["start_ns"];
        starts.insert(starts.end(), column.begin(), column.end());
      }
      std::sort(starts.begin(), starts.end());
      return starts;
    };
    const ordered_json whole = page_data(run);
    const std::vector<std::int64_t> all = embedded(whole);
    CHECK(whole["time"]["events"] == all.size());
    CHECK(whole["time"]["embedded"] == all.size());
    for (const std::uint64_t limit : {0U, 1U, 100U}) {
      const ordered_json part = page_data(run, {.limit = limit});
      const std::vector<std::int64_t> few = embedded(part);
      CHECK(few.size() <= limit);
      CHECK(few.size() + 5 >= limit);  // those that start at one instant stay together
      CHECK(std::equal(few.begin(), few.end(), all.begin()));
      CHECK(part["time"]["events"] == all.size());
      CHECK(part["time"]["embedded"] == few.size());
      CHECK(all[few.size()] >= part["time"]["details_to_ns"].get<std::int64_t>());
    }
    PageTables tables = unpack(whole["packed"]);
    CHECK(tables["ucp_operations"]["tag_low"].front() == 0x76543210);
    CHECK(tables["ucp_operations"]["tag_high"].front() == 0xfedcba98);
    CHECK(sum(tables["messages"]["hops"]) ==
          static_cast<std::int64_t>(tables["hops"]["count"].size()));
  }

  TEST_CASE("waits of the page are those of the run, as sums, over time and one by one") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Run run = timed_run(seed);
      Random random(seed + 200);
      run.waits.clear();
      const auto process_count = static_cast<std::int64_t>(run.processes.size());
      for (std::size_t call = 0; call < run.mpi_calls.size(); ++call) {
        std::int64_t at = run.mpi_calls[call].t_start_ns;
        for (std::uint64_t waits = below(random, 3); waits > 0; --waits) {
          Wait wait;
          wait.kind = static_cast<WaitKind>(below(random, kWaitKinds));
          wait.process = run.mpi_calls[call].process;
          wait.cause_process = static_cast<std::int32_t>(below(random, run.processes.size()));
          wait.call = static_cast<std::int64_t>(call);
          wait.t_start_ns = at;
          const bool is_known = below(random, 4) != 0;
          const auto ns = static_cast<std::int64_t>(below(random, kDuration / 20));
          (is_known ? wait.ns : wait.unknown_ns) = ns;
          if (!is_known) wait.unknown = WaitUnknown::partner;
          at += ns;
          run.waits.push_back(wait);
        }
      }
      const ordered_json data = page_data(run);
      const std::int64_t end =
          data["time"]["slab_ns"].get<std::int64_t>() * data["time"]["slabs"].get<std::int64_t>();
      using Key = std::array<std::int64_t, 3>;
      std::map<Key, std::pair<std::int64_t, std::int64_t>> expected, found;
      std::map<std::int64_t, std::int64_t> waited, waited_in_slabs;
      std::vector<std::array<std::int64_t, 7>> singly, told;
      for (const Wait& wait : run.waits) {
        const auto kind = static_cast<std::int64_t>(wait.kind);
        const std::int64_t ns = wait.ns + wait.unknown_ns;
        if (!is_waiting(wait.kind) || ns == 0) continue;
        const MpiCallRow& call = run.mpi_calls[static_cast<std::size_t>(wait.call)];
        // One that a store lays outside of its call is told at the call's edge.
        const std::int64_t told_ns = std::clamp(wait.t_start_ns, call.t_start_ns, call.t_end_ns);
        singly.push_back({call.process, call.t_start_ns, told_ns, ns, wait.cause_process, kind,
                          static_cast<std::int64_t>(wait.unknown)});
        if (wait.ns == 0 || wait.kind == WaitKind::wait_finalize) continue;
        auto& [count, sum] = expected[{wait.process, wait.cause_process, kind}];
        ++count;
        sum += wait.ns;
        waited[wait.process] += overlap(wait.t_start_ns, wait.t_start_ns + wait.ns, 0, end);
      }
      const PageTables tables = unpack(data["packed"]);
      const auto& sums = tables.at("wait_sums");
      for (std::size_t row = 0; row < sums.at("ns").size(); ++row) {
        found[{sums.at("process")[row], sums.at("cause")[row], sums.at("kind")[row]}] = {
            sums.at("waits")[row], sums.at("ns")[row]};
      }
      CHECK(found == expected);
      const auto& slabs = tables.at("wait_activity");
      for (std::size_t row = 0; row < slabs.at("slab").size(); ++row) {
        CHECK(slabs.at("process")[row] < process_count);
        waited_in_slabs[slabs.at("process")[row]] +=
            slabs.at("length")[row] * slabs.at("busy_ns")[row];
      }
      std::erase_if(waited, [](const auto& one) { return one.second == 0; });
      CHECK(waited_in_slabs == waited);
      const auto& waits = tables.at("waits");
      const auto& calls = tables.at("mpi_calls");
      for (std::size_t row = 0; row < waits.at("call").size(); ++row) {
        const auto call = static_cast<std::size_t>(waits.at("call")[row]);
        const std::int64_t start = calls.at("start_ns").at(call);
        told.push_back({calls.at("process").at(call), start,
                        start + waits.at("since_start_ns")[row], waits.at("ns")[row],
                        waits.at("cause")[row], waits.at("kind")[row], waits.at("unknown")[row]});
      }
      CHECK(std::is_sorted(waits.at("call").begin(), waits.at("call").end()));
      std::sort(singly.begin(), singly.end());
      std::sort(told.begin(), told.end());
      CHECK(told == singly);
      CHECK(data["waits"]["kinds"].size() == kWaitKinds);
      CHECK(data["waits"]["unknown"][static_cast<std::size_t>(WaitUnknown::partner)] == "partner");
    }
  }

  TEST_CASE("a run of nothing has a page") {
    Run run;
    run.info_json = "{}";
    const ordered_json data = page_data(run);
    CHECK(cells_of(data).empty());
    CHECK(data["time"]["events"] == 0);
    unpack(data["packed"]);
  }
}

}  // namespace uctrace
