// The sums that a run keeps, compared with its rows: reports give the same results from sums as
// from all rows, and nothing is lost or counted twice.
#include "log-merger/summaries/latencies.hpp"
#include "log-merger/summaries/sums.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "log-merger/model/size_class.hpp"
#include "log-merger/reports/comms.hpp"
#include "log-merger/reports/report.hpp"
#include "log-merger/summaries/facets.hpp"
#include "log-merger/summaries/traffic.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

std::int32_t index_or_none(Random& random, std::size_t count) {
  return static_cast<std::int32_t>(below(random, count + 1)) - 1;
}

void add_places(Run& run, Random& random) {
  for (const char* name : {"W0.0", "s0.1"}) {
    Communicator& comm = run.communicators.emplace_back();
    comm.name = run.texts.intern(name);
    comm.world = 0;
  }
  for (const char* bus : {"0000:10:00.0", "0000:20:00.0"}) {
    Gpu& gpu = run.gpus.emplace_back();
    gpu.host = run.texts.intern("even");
    gpu.bus = gpu.uuid = run.texts.intern(bus);
  }
  Nic& nic = run.nics.emplace_back();
  nic.host = run.texts.intern("even");
  nic.device = run.texts.intern("mlx5_0:1");
  run.gpu_nic.push_back({.host = nic.host, .memory = MemoryKind::gpu, .gpu = 0, .nic = 0});
  run.call_sites.resize(2);
  for (std::size_t i = 0; i < run.call_sites.size(); ++i) {
    run.call_sites[i].label = run.texts.intern("site" + std::to_string(i));
  }
  for (int i = 0; i < 4; ++i) run.stacks.push_back({.call_site = index_or_none(random, 2)});
}

void vary_messages(Run& run, Random& random) {
  for (Message& message : run.messages) {
    message.bytes = std::uint64_t{1} << below(random, 12);
    message.bytes += below(random, 2) == 0 ? 0 : below(random, message.bytes);
    if (below(random, 9) == 0) message.bytes = 0;
    message.communicator = index_or_none(random, run.communicators.size());
    message.call = index_or_none(random, run.mpi_calls.size());
    message.stack = index_or_none(random, run.stacks.size());
    message.t_start_ns = index_or_none(random, 1000);
    message.src_memory = static_cast<MemoryKind>(below(random, 4));
    message.src_gpu = index_or_none(random, run.gpus.size());
    message.dst_gpu = index_or_none(random, run.gpus.size());
  }
  for (Hop& hop : run.hops) {
    hop.device = any_of(run, random, {"", "memory", "mlx5_0:1"});
    hop.remote_device = any_of(run, random, {"", "mlx5_0:1"});
    hop.network = below(random, 3) == 0;
    hop.issued_by = static_cast<Side>(below(random, 2));
    hop.from_memory = static_cast<MemoryKind>(below(random, 4));
    hop.from_gpu = index_or_none(random, run.gpus.size());
  }
}

void vary_calls(Run& run, Random& random) {
  std::int64_t start_ns = 0;
  for (std::size_t i = 0; i < run.mpi_calls.size(); ++i) {
    MpiCallRow& call = run.mpi_calls[i];
    call.process = static_cast<std::uint32_t>(i * run.processes.size() / run.mpi_calls.size());
    call.communicator = index_or_none(random, run.communicators.size());
    call.stack = index_or_none(random, run.stacks.size());
    call.bytes = below(random, 5000);
    call.t_start_ns = below(random, 9) == 0 ? -1 : start_ns += 7;
    call.t_end_ns = call.t_start_ns + static_cast<std::int64_t>(below(random, 50)) - 2;
    for (std::uint64_t parts = below(random, 3); parts > 0; --parts) {
      run.wait_shares.push_back({.call = static_cast<std::uint32_t>(i),
                                 .communicator = index_or_none(random, run.communicators.size()),
                                 .requests = 1,
                                 .ns = static_cast<std::int64_t>(below(random, 40)) - 3});
    }
    for (std::uint64_t waits = below(random, 3); waits > 0; --waits) {
      Wait& wait = run.waits.emplace_back();
      wait.kind = static_cast<WaitKind>(below(random, kWaitKinds));
      wait.call = static_cast<std::int64_t>(i);
      wait.communicator = index_or_none(random, run.communicators.size());
      wait.ns = static_cast<std::int64_t>(below(random, 20));
      wait.unknown_ns = static_cast<std::int64_t>(below(random, 20));
    }
  }
}

void add_operations(Run& run, Random& random) {
  for (int i = 0; i < 60; ++i) {
    UcpOperationRow& operation = run.ucp_operations.emplace_back();
    operation.process = static_cast<std::uint32_t>(below(random, run.processes.size()));
    operation.function = any_of(run, random, {"ucp_tag_send_nbx", "ucp_put_nbx"});
    operation.progressed_in = any_of(run, random, {"", "", "MPI_Send"});
    operation.message = index_or_none(random, run.messages.size());
    operation.stack = index_or_none(random, run.stacks.size());
    operation.bytes = below(random, 3000);
    operation.t_start_ns = index_or_none(random, 100);
    operation.t_end_ns = static_cast<std::int64_t>(below(random, 200));
  }
}

// Few values, so that similar rows occur.
Run crowded_run(std::uint64_t seed) {
  Run run = random_run(seed);
  Random random(seed * 7);
  add_places(run, random);
  vary_calls(run, random);
  vary_messages(run, random);
  add_operations(run, random);
  for (Transfer& transfer : run.transfers) {
    transfer.role = static_cast<Role>(below(random, 3));
    transfer.payload_bytes = below(random, 100);
    if (below(random, 4) == 0) transfer.message = 0;
    if (below(random, 4) == 0) transfer.peer_process = -1;
  }
  run.last_ns = last_instant(run);
  run.facets = find_facets(run);
  lay_out_sums(run);
  merge::lay_out_latencies(run);
  return run;
}

// Each criterion is asked for, or not.
FilterSpec random_spec(Random& random) {
  FilterSpec spec;
  const auto ask = [&](std::vector<std::string>& of, const std::vector<const char*>& values) {
    if (below(random, 8) != 0) return;
    for (std::uint64_t count = 1 + below(random, 2); count > 0; --count) {
      of.emplace_back(values[below(random, values.size())]);
    }
  };
  ask(spec.kind, {"tag", "am", "put"});
  ask(spec.mpi, {"unknown", "MPI_Isend", "MPI_Allreduce"});
  ask(spec.comm, {"split", "W0.0", "unknown"});
  ask(spec.protocol, {"rndv/get", "unknown"});
  ask(spec.src, {"0", "1", "unknown"});
  ask(spec.dst, {"2", "unknown"});
  ask(spec.rank, {"0", "1"});
  ask(spec.host, {"even", "odd"});
  ask(spec.src_host, {"odd"});
  ask(spec.dst_host, {"even"});
  ask(spec.src_memory, {"host", "gpu"});
  ask(spec.dst_memory, {"unknown", "managed"});
  ask(spec.gpu, {"0000:10:00.0"});
  ask(spec.transport, {"tcp", "cma"});
  ask(spec.op, {"am_bcopy", "get_zcopy"});
  ask(spec.role, {"data", "staging"});
  if (below(random, 8) == 0) spec.min_bytes = std::uint64_t{1} << below(random, 11);
  if (below(random, 8) == 0) spec.max_bytes = (std::uint64_t{1} << below(random, 11)) - 1;
  // The least beyond the greatest is refused.
  if (spec.min_bytes && spec.max_bytes) {
    spec.max_bytes = std::max(*spec.max_bytes, 2 * *spec.min_bytes - 1);
  }
  return spec;
}

std::string report_of(const Run& run, const FilterSpec& spec) {
  std::ostringstream out;
  for (const WithoutMessage rest : {WithoutMessage::left_out, WithoutMessage::counted}) {
    write_report(out, run, Filter(run, spec), {.format = Format::json, .without_message = rest});
    write_report(out, run, Filter(run, spec), {.without_message = rest});
  }
  return out.str();
}

std::string comms_of(const Run& run, const CommsFilter& filter, const CommsOptions& options) {
  std::ostringstream out;
  write_comms(out, run, filter, options);
  return out.str();
}

// Of two long texts no more is shown than where they begin to differ.
void check_same_text(const std::string& found, const std::string& expected) {
  const auto [a, b] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  const bool same = a == found.end() && b == expected.end();
  CHECK_MESSAGE(same, std::string(a, a + std::min<std::ptrdiff_t>(80, found.end() - a)),
                "\ninstead of\n",
                std::string(b, b + std::min<std::ptrdiff_t>(80, expected.end() - b)));
}

Run without_sums(const Run& run) {
  Run rows = run;
  rows.calls_are_summed = rows.messages_are_summed = false;
  return rows;
}

Run without_rows(const Run& run) {
  Run sums = run;
  sums.messages.clear();
  sums.hops.clear();
  sums.transfers.clear();
  sums.ucp_operations.clear();
  sums.mpi_calls.clear();
  sums.wait_shares.clear();
  sums.waits.clear();
  return sums;
}

}  // namespace

TEST_CASE("sums count every row once") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Run run = crowded_run(seed);
    REQUIRE(run.messages_are_summed);
    REQUIRE(run.calls_are_summed);
    std::uint64_t messages = 0, bytes = 0, hops = 0, calls = 0, ns = 0, transfers = 0;
    for (const MessageSum& sum : run.message_sums) messages += sum.messages;
    for (const MessageSum& sum : run.message_sums) bytes += sum.bytes;
    for (const HopSum& sum : run.hop_sums) hops += sum.count;
    for (const CallSum& sum : run.call_sums) calls += sum.calls;
    for (const CallSum& sum : run.call_sums) ns += sum.part_ns;
    for (const TransferSum& sum : run.transfer_sums) transfers += sum.transfers;
    CHECK(messages == run.messages.size());
    CHECK(calls == run.mpi_calls.size());
    for (const Message& message : run.messages) bytes -= message.bytes;
    for (const Hop& hop : run.hops) hops -= hop.count;
    for (const Transfer& transfer : run.transfers) transfers -= transfer.message < 0 ? 1 : 0;
    for (std::uint32_t i = 0; i < run.mpi_calls.size(); ++i) {
      const MpiCallRow& call = run.mpi_calls[i];
      bool is_shared = false;
      for (const WaitShare& share : run.wait_shares) {
        if (share.call != i) continue;
        is_shared = true;
        ns -= static_cast<std::uint64_t>(std::max<std::int64_t>(share.ns, 0));
      }
      if (is_shared || call.t_start_ns < 0) continue;
      ns -= static_cast<std::uint64_t>(std::max<std::int64_t>(call.t_end_ns - call.t_start_ns, 0));
    }
    std::uint64_t waiting_ns = 0, unknown_ns = 0;
    for (const Wait& wait : run.waits) {
      if (wait.kind == WaitKind::wait_finalize) continue;  // it is in no total
      const bool completes =
          wait.kind == WaitKind::barrier_completion || wait.kind == WaitKind::nxn_completion;
      if (!completes) waiting_ns += static_cast<std::uint64_t>(wait.ns);
      unknown_ns += static_cast<std::uint64_t>(wait.unknown_ns);
    }
    for (const CallSum& sum : run.call_sums) waiting_ns -= sum.part_waiting_ns;
    for (const CallSum& sum : run.call_sums) unknown_ns -= sum.part_unknown_ns;
    CHECK(waiting_ns == 0);
    CHECK(unknown_ns == 0);
    CHECK(bytes == 0);
    CHECK(hops == 0);
    CHECK(ns == 0);
    CHECK(transfers == 0);
  }
}

TEST_CASE("a report of sums alone is the report of the rows") {
  Random random(1);
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Run run = crowded_run(seed);
    const Run rows = without_sums(run), sums = without_rows(run);
    check_same_text(report_of(sums, {}), report_of(rows, {}));
    for (int round = 0; round < 25; ++round) {
      const FilterSpec spec = random_spec(random);
      REQUIRE(Filter(run, spec).can_ask_sums());
      check_same_text(report_of(sums, spec), report_of(rows, spec));
    }
  }
}

TEST_CASE("of operations without an end no time is told, from sums as from rows") {
  Run run = crowded_run(1);
  for (UcpOperationRow& operation : run.ucp_operations) operation.t_end_ns = -1;
  lay_out_sums(run);
  REQUIRE(run.messages_are_summed);
  REQUIRE(run.calls_are_summed);
  for (const Run& told : {without_sums(run), without_rows(run)}) {
    std::size_t groups = 0;
    for_each_operations(told, Filter(told, {}), [&](const Calls& calls) {
      ++groups;
      CHECK_FALSE(calls.is_timed);
    });
    CHECK(groups > 0);
  }
}

// As in a damaged or forged store.
TEST_CASE("a sum of no messages is reported") {
  Run run = without_rows(crowded_run(1));
  for (MessageSum& sum : run.message_sums) sum.messages = 0;
  CHECK_FALSE(report_of(run, {}).empty());
}

TEST_CASE("what sums cannot tell is asked of the rows") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Run run = crowded_run(seed);
    std::vector<FilterSpec> specs(4);
    specs[0].from_ns = 200;
    specs[1].to_ns = 700;
    specs[2].min_bytes = 100;
    specs[3].max_bytes = 64;
    for (const FilterSpec& spec : specs) {
      CHECK_FALSE(Filter(run, spec).can_ask_sums());
      check_same_text(report_of(run, spec), report_of(without_sums(run), spec));
    }
    CommsOptions by_time, by_bucket;
    by_time.by = {CommsBy::time};
    by_time.interval_ns = 100;
    by_bucket.by = {CommsBy::bucket};
    by_bucket.buckets = {100, 2000};
    CommsFilter early;
    early.to_ns = 300;
    for (const CommsOptions& options : {by_time, by_bucket, CommsOptions{}}) {
      check_same_text(comms_of(run, early, options), comms_of(without_sums(run), early, options));
      check_same_text(comms_of(run, {}, options), comms_of(without_sums(run), {}, options));
    }
  }
}

TEST_CASE("comms of sums alone are those of the rows") {
  constexpr CommsBy kAll[] = {CommsBy::comm,   CommsBy::op,        CommsBy::kind,     CommsBy::rank,
                              CommsBy::bucket, CommsBy::call_site, CommsBy::transport};
  Random random(2);
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Run run = crowded_run(seed);
    const Run rows = without_sums(run), sums = without_rows(run);
    for (int round = 0; round < 25; ++round) {
      CommsOptions options;
      options.by.clear();
      for (const CommsBy by : kAll) {
        if (below(random, 3) == 0) options.by.push_back(by);
      }
      options.format = below(random, 2) == 0 ? Format::table : Format::csv;
      CommsFilter filter;
      if (below(random, 4) == 0) filter.mpi = {"MPI_Isend"};
      if (below(random, 4) == 0) filter.comm = {"W0.0", "-"};
      if (below(random, 4) == 0) filter.rank = {"1"};
      if (below(random, 4) == 0) filter.host = {"even"};
      if (below(random, 4) == 0) filter.kind = {"collective"};
      check_same_text(comms_of(sums, filter, options), comms_of(rows, filter, options));
    }
  }
}

TEST_CASE("classes of lengths") {
  CHECK(size_class(0) == 0);
  CHECK(size_class(1) == 1);
  CHECK(size_class(255) == 8);
  CHECK(size_class(256) == 9);
  CHECK(size_class(UINT64_MAX) == 64);
  for (int size = 0; size < 256; ++size) {
    const auto least = length_of(static_cast<std::uint8_t>(size));
    CHECK(size_class(least) == std::min(size, 64));
    if (size > 1 && size <= 64) CHECK(size_class(least - 1) == size - 1);
  }
  CHECK(is_between_classes(0));
  CHECK(is_between_classes(1));
  CHECK(is_between_classes(4096));
  CHECK_FALSE(is_between_classes(4097));
}

TEST_CASE("rows that have no like are not summed") {
  Run run;
  add_processes(run, 1);
  run.messages.resize(100'000);
  for (std::size_t i = 0; i < run.messages.size(); ++i) {
    run.messages[i].mpi = run.texts.intern(std::to_string(i));
  }
  lay_out_sums(run);
  CHECK_FALSE(run.messages_are_summed);
  CHECK(run.calls_are_summed);  // there are none, but that is known
  CHECK(run.message_sums.empty());
  for (Message& message : run.messages) message.mpi %= 10;
  lay_out_sums(run);
  CHECK(run.messages_are_summed);
  CHECK(run.message_sums.size() == 10);
}

TEST_CASE("calls that have no like are not summed, messages beside them are") {
  Run run;
  add_processes(run, 1);
  run.messages.resize(10);
  run.mpi_calls.resize(100'000);
  for (std::size_t i = 0; i < run.mpi_calls.size(); ++i) {
    run.mpi_calls[i].function = run.texts.intern(std::to_string(i));
  }
  lay_out_sums(run);
  CHECK_FALSE(run.calls_are_summed);
  CHECK(run.call_sums.empty());
  CHECK(run.messages_are_summed);
  CHECK(run.message_sums.size() == 1);
}

}  // namespace uctrace
