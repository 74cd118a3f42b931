// Each rule in both directions: a run of which it speaks, and the nearest one of which it is
// silent.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "log-merger/findings/finding.hpp"
#include "log-merger/summaries/latencies.hpp"
#include "log-merger/summaries/sums.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

using findings::Finding;
using findings::findings_of;

constexpr std::int64_t kMs = 1'000'000;

// Ranks of one host, or of two where `hosts` is 2, that do nothing yet.
Run quiet_run(std::size_t ranks = 2, std::size_t hosts = 1) {
  Run run;
  run.info_json = R"({"events":{"uct":9,"ucp":9,"mpi":9,"dropped":0},
                      "layers":{"uct":{"state":"on"},"ucp":{"state":"on"}}})";
  add_processes(run, ranks);
  for (std::size_t i = 0; i < ranks; ++i) {
    run.processes[i].host = run.texts.intern("node" + std::to_string(i % hosts));
  }
  return run;
}

void add_rank_times(Run& run, std::int64_t ns, std::int64_t mpi_ns = 0) {
  for (std::uint32_t i = 0; i < run.processes.size(); ++i) {
    RankTime rank;
    rank.process = i;
    rank.threads = 1;
    rank.t_begin_ns = 0;
    rank.t_end_ns = ns;
    rank.mpi_ns = mpi_ns;
    run.rank_times.push_back(rank);
  }
}

struct Sent {
  const char* transport = "cma";
  const char* protocol = "rndv/get";
  std::uint64_t bytes = 1 << 20;
  std::int64_t latency_ns = 1000;
  std::int32_t src = 0, dst = 1;
  int count = 1;
};

void send(Run& run, const Sent& sent) {
  for (int i = 0; i < sent.count; ++i) {
    Message message;
    message.src = message.src_process = sent.src;
    message.dst = message.dst_process = sent.dst;
    message.bytes = sent.bytes;
    message.src_memory = message.dst_memory = MemoryKind::host;
    message.protocol = run.texts.intern(sent.protocol);
    message.t_start_ns = static_cast<std::int64_t>(run.messages.size()) * 10;
    message.t_end_ns = message.t_start_ns + sent.latency_ns;
    message.first_hop = static_cast<std::uint32_t>(run.hops.size());
    message.hops = 1;
    Hop hop;
    hop.message = static_cast<std::uint32_t>(run.messages.size());
    hop.transport = run.texts.intern(sent.transport);
    hop.op = run.texts.intern("am_bcopy");
    hop.payload_bytes = hop.wire_bytes = sent.bytes;
    hop.count = 1;
    run.hops.push_back(hop);
    run.messages.push_back(message);
  }
}

void set(Run& run, SettingFrom from, const char* name, const char* value, std::uint32_t first,
         std::uint32_t processes) {
  run.settings.push_back({run.texts.intern(name), run.texts.intern(value), from, first, processes});
}

// Out of sums as well as out of rows, which must say the same.
std::vector<Finding> all_of(Run run) {
  merge::lay_out_latencies(run);
  const std::vector<Finding> of_rows = findings_of(run);
  lay_out_sums(run);
  const std::vector<Finding> of_sums = findings_of(run);
  REQUIRE(of_rows.size() == of_sums.size());
  for (std::size_t i = 0; i < of_rows.size(); ++i) {
    CHECK(of_rows[i].what == of_sums[i].what);
    CHECK(of_rows[i].evidence == of_sums[i].evidence);
  }
  return of_sums;
}

// The finding of a rule; empty where it is silent.
std::string said(const Run& run, const std::string& rule) {
  for (const Finding& finding : all_of(run)) {
    if (finding.rule == rule) return finding.what;
  }
  return "";
}

std::string shown_by(const Run& run, const std::string& rule) {
  for (const Finding& finding : all_of(run)) {
    if (finding.rule == rule) return finding.command;
  }
  return "";
}

std::string advised(const Run& run, const std::string& rule) {
  for (const Finding& finding : all_of(run)) {
    if (finding.rule == rule) return finding.advice;
  }
  return "";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST_CASE("a quiet run has no findings") {
  Run run = quiet_run();
  send(run, {});
  CHECK(all_of(run).empty());
}

TEST_CASE("a job that used no UCX is told, with what keeps Open MPI from it") {
  Run run = quiet_run();
  run.info_json = R"({"events":{"uct":0,"ucp":0,"mpi":12,"dropped":0},
                      "layers":{"uct":{"state":"unused"},"ucp":{"state":"unused"}}})";
  set(run, SettingFrom::mpi_file, "OMPI_MCA_pml", "^ucx", 0, 2);
  const std::string what = said(run, "job-without-ucx");
  CHECK(has(what, "12 MPI calls"));
  CHECK(has(what, "pml=^ucx, from a file"));
  run.info_json = R"({"events":{"mpi":12},"layers":{"ucp":{"state":"off"}}})";
  CHECK(said(run, "job-without-ucx").empty());
  run.info_json = R"({"events":{"mpi":0}})";
  CHECK(said(run, "job-without-ucx").empty());
}

TEST_CASE("what puts the records in doubt comes first") {
  Run run = quiet_run();
  send(run, {.transport = "tcp"});
  run.info_json = R"({"events":{"uct":90,"ucp":0,"mpi":0,"dropped":10,
                      "dropped_by_cause":{"packing_slow":10}},
                      "messages":{"sent":4,"unmatched_sends":1,"unmatched_receives":0,"ambiguous":0},
                      "clock":{"violations":3,"hosts_aligned_by":"measured"}})";
  run.identities.push_back({.name = "payload",
                            .scope = "job",
                            .statement = "",
                            .left = 1,
                            .right = 2,
                            .result = Verdict::violated});
  const std::vector<Finding> found = all_of(run);
  REQUIRE(found.size() == 5);
  CHECK(std::all_of(found.begin(), found.begin() + 4,
                    [](const Finding& finding) { return finding.doubts_records; }));
  CHECK(found.back().rule == std::string("tcp-within-host"));
  CHECK(has(said(run, "records-dropped"),
            "10 records were dropped, 10.0 % of all (packing_slow 10)"));
  CHECK(has(said(run, "messages-unmatched"), "1 sends were never received"));
  CHECK(has(said(run, "clocks-contradict"), "3 messages end before they start"));
  CHECK(has(said(run, "identities-violated"), "payload"));
  run.identities.back().result = Verdict::incomplete;
  CHECK(said(run, "identities-violated").empty());
}

TEST_CASE("clocks that were not measured are told where there are several hosts to join") {
  Run run = quiet_run();
  run.info_json = R"({"clock":{"violations":0,"hosts_aligned_by":"wall clock"}})";
  CHECK(has(said(run, "clocks-contradict"), "not measured"));
  run.info_json = R"({"clock":{"violations":0,"hosts_aligned_by":"same clock"}})";
  CHECK(said(run, "clocks-contradict").empty());
}

TEST_CASE("tcp between ranks of a host is told, and why") {
  Run run = quiet_run(2);
  send(run, {.transport = "tcp"});
  CHECK(has(said(run, "tcp-within-host"), "UCX opened no shared memory"));
  set(run, SettingFrom::environment, "UCX_TLS", "tcp,self", 0, 2);
  CHECK(has(said(run, "tcp-within-host"), "UCX_TLS=tcp,self leaves shared memory out"));
  set(run, SettingFrom::opened, "posix", "memory", 0, 2);
  CHECK(has(said(run, "tcp-within-host"), "although UCX opened shared memory"));
  SUBCASE("between hosts it is the way") {
    Run other = quiet_run(2, 2);
    send(other, {.transport = "tcp"});
    CHECK(said(other, "tcp-within-host").empty());
  }
  SUBCASE("a little of it is not") {
    send(run, {.transport = "cma", .bytes = 200 << 20});
    CHECK(said(run, "tcp-within-host").empty());
  }
  SUBCASE("of memory of a GPU nobody knows that there was another way") {
    for (Message& message : run.messages) message.src_memory = MemoryKind::gpu;
    CHECK(said(run, "tcp-within-host").empty());
  }
}

TEST_CASE("large messages that are copied twice are told, and why") {
  Run run = quiet_run(2);
  send(run, {.transport = "posix"});
  CHECK(said(run, "no-single-copy").empty());  // what was opened is not known
  set(run, SettingFrom::opened, "posix", "memory", 0, 2);
  CHECK(has(said(run, "no-single-copy"), "may not read each other's memory"));
  Run offered = run;
  set(offered, SettingFrom::offered, "cma", "memory", 0, 2);
  CHECK(has(said(offered, "no-single-copy"), "did not open it: UCX chose others"));
  set(offered, SettingFrom::environment, "UCX_SHM_DEVICES", "none", 0, 2);
  CHECK(has(said(offered, "no-single-copy"), "UCX_SHM_DEVICES=none leaves it out"));
  Run not_offered = run;
  set(not_offered, SettingFrom::offered, "posix", "memory", 0, 2);
  CHECK(has(said(not_offered, "no-single-copy"), "UCX was offered no cma here"));
  Run scoped = run;
  set(scoped, SettingFrom::system, "ptrace_scope", "1", 0, 2);
  CHECK(has(said(scoped, "no-single-copy"), "ptrace_scope is 1"));
  Run without = run;
  set(without, SettingFrom::environment, "UCX_TLS", "posix,self", 0, 2);
  CHECK(has(said(without, "no-single-copy"), "UCX_TLS=posix,self leaves cma out"));
  SUBCASE("with cma it was UCX's choice") {
    set(run, SettingFrom::opened, "cma", "memory", 0, 2);
    CHECK(said(run, "no-single-copy").empty());
  }
  SUBCASE("of short messages a copy is best") {
    Run small = quiet_run(2);
    set(small, SettingFrom::opened, "posix", "memory", 0, 2);
    send(small, {.transport = "posix", .bytes = 4096, .count = 300});
    CHECK(said(small, "no-single-copy").empty());
  }
}

TEST_CASE("copies of GPU memory through the host's are told") {
  Run run = quiet_run();
  run.gpus.push_back({});
  send(run, {.transport = "rc_mlx5"});
  run.messages[0].src_memory = MemoryKind::gpu;
  run.messages[0].src_gpu = 0;
  CHECK(said(run, "staged-through-host").empty());
  Hop copy = run.hops[0];
  copy.role = Role::staging;
  copy.transport = run.texts.intern("cuda_copy");
  copy.from_memory = MemoryKind::gpu;
  copy.from_gpu = 0;
  copy.to_memory = MemoryKind::host;
  run.hops.insert(run.hops.begin(), copy);
  run.messages[0].hops = 2;
  CHECK(has(said(run, "staged-through-host"), "1.0 MiB of the 1.0 MiB that lay in GPU memory"));
  // What to do about it is a vendor's.
  run.info_json = R"({"gpu":{"devices":[{"vendor":"rocm"},{"vendor":"rocm"}]}})";
  const std::string advice = advised(run, "staged-through-host");
  CHECK(has(advice, "for ROCm within a host rocm_ipc"));
  CHECK(!has(advice, "nvidia-peermem"));
}

TEST_CASE("memory that UCX takes for another kind is told") {
  Run run = quiet_run();
  run.info_json = R"({"gpu":{"disagreements":[
      {"memory":"device","believed":"host","operations":3,"bytes":4096}]}})";
  CHECK(has(said(run, "memory-mistaken"), "device memory for host"));
  CHECK(has(said(run, "memory-mistaken"), "3 operations"));
  run.info_json = R"({"gpu":{"disagreements":[]}})";
  CHECK(said(run, "memory-mistaken").empty());
}

// A GPU and two cards of a host.
Run run_with_cards(std::uint64_t near_bytes, std::uint64_t far_bytes) {
  Run run = quiet_run();
  send(run, {});
  const TextId host = run.texts.intern("node0");
  Gpu gpu;
  gpu.host = host;
  gpu.bus = run.texts.intern("0000:10:00.0");
  run.gpus.push_back(gpu);
  for (const char* card : {"mlx5_0:1", "mlx5_1:1"}) {
    Nic nic;
    nic.host = host;
    nic.device = run.texts.intern(card);
    nic.bus = run.texts.intern(std::string("0000:11:00.") + card[5]);
    run.nics.push_back(nic);
  }
  for (std::int32_t card : {0, 1}) {
    GpuNic row;
    row.host = host;
    row.memory = MemoryKind::gpu;
    row.gpu = 0;
    row.nic = card;
    row.distance = card == 0 ? Distance::pix : Distance::sys;
    row.out_bytes = card == 0 ? near_bytes : far_bytes;
    run.gpu_nic.push_back(row);
  }
  return run;
}

TEST_CASE("one card that carries most is told") {
  CHECK(has(said(run_with_cards(9 << 20, 1 << 20), "one-card-carries-most"), "mlx5_0:1 of node0"));
  CHECK(said(run_with_cards(6 << 20, 4 << 20), "one-card-carries-most").empty());
  CHECK(said(run_with_cards(9 << 10, 1 << 10), "one-card-carries-most").empty());
  Run loopback = run_with_cards(9 << 20, 1 << 20);
  loopback.nics[1].bus = kNoText;
  CHECK(said(loopback, "one-card-carries-most").empty());
}

TEST_CASE("a card that is far from its GPU is told") {
  const std::string what = said(run_with_cards(1 << 20, 1 << 20), "card-far-from-gpu");
  CHECK(has(what, "GPU 0000:10:00.0 and mlx5_1:1 of node0"));
  CHECK(said(run_with_cards(1 << 20, 0), "card-far-from-gpu").empty());
  Run same = run_with_cards(1 << 20, 1 << 20);
  same.gpu_nic[0].distance = Distance::sys;  // there is no nearer one
  CHECK(said(same, "card-far-from-gpu").empty());
}

TEST_CASE("a switch of protocols at which latency jumps is told") {
  const auto run_of = [](std::int64_t ns_of_large, int count) {
    Run run = quiet_run();
    send(run, {.protocol = "eager", .bytes = 6000, .latency_ns = 1000, .count = count});
    send(run, {.protocol = "rndv", .bytes = 9000, .latency_ns = ns_of_large, .count = count});
    return run;
  };
  const std::string what = said(run_of(9000, 40), "switch-is-costly");
  CHECK(has(what, "From 8.0 KiB on messages within hosts change from eager to rndv"));
  CHECK(said(run_of(2500, 40), "switch-is-costly").empty());
  CHECK(said(run_of(9000, 20), "switch-is-costly").empty());
  Run same = run_of(9000, 40);
  for (Message& message : same.messages) message.protocol = same.texts.intern("eager");
  CHECK(said(same, "switch-is-costly").empty());
}

TEST_CASE("late first messages are told") {
  const auto run_of = [](std::int64_t first_ns) {
    Run run = quiet_run();
    add_rank_times(run, 10 * kMs);
    send(run, {.latency_ns = first_ns});
    send(run, {.latency_ns = 1000, .count = 50});
    return run;
  };
  CHECK(has(said(run_of(3 * kMs), "first-messages-late"), "3.0 ms on average"));
  CHECK(said(run_of(4000), "first-messages-late").empty());
  Run long_run = run_of(3 * kMs);
  for (RankTime& rank : long_run.rank_times) rank.t_end_ns = 1000 * kMs;
  CHECK(said(long_run, "first-messages-late").empty());
}

TEST_CASE("messages that wait for registration are told, and whether it comes again") {
  Run run = quiet_run();
  send(run, {});
  add_rank_times(run, 1000 * kMs);
  const auto rank_ns = [&] {
    std::int64_t sum = 0;
    for (const RankTime& rank : run.rank_times) sum += rank.t_end_ns - rank.t_begin_ns;
    return sum;
  }();
  RegistrationSum sum{.memory_domain = run.texts.intern("mlx5_0"),
                      .function = run.texts.intern("uct_md_mem_reg"),
                      .memory = MemoryKind::host,
                      .calls = 10,
                      .bytes = 1 << 20,
                      .registrations = 10,
                      .first_uses = 9};
  sum.ns = sum.own_ns = sum.for_messages_ns = std::max<std::int64_t>(rank_ns / 10, 1'000'000);
  // Mappings and their ends are about the same bytes, and are no registrations.
  const RegistrationSum mapping{
      .function = run.texts.intern("ucp_mem_map"), .calls = 10, .bytes = 1 << 20};
  run.registration_sums = {sum, mapping};
  const std::string what = said(run, "registration-is-long");
  CHECK(has(what, "uct_md_mem_reg with mlx5_0"));
  CHECK(has(what, "9 of 10 registrations were the first of their memory"));
  CHECK(!has(what, "again"));
  run.registration_sums[0].for_messages_ns = 999'999;
  CHECK(said(run, "registration-is-long").empty());
  run.registration_sums[0].for_messages_ns = rank_ns / 25;
  CHECK(said(run, "registration-is-long").empty());
  run.registration_sums.clear();
  CHECK(said(run, "registration-is-long").empty());
}

TEST_CASE("messages that wait until UCX has connected are told, each once") {
  Run run = quiet_run();
  send(run, {});
  add_rank_times(run, 1000 * kMs);
  const auto add = [&](std::int64_t message, std::int64_t ready_ms, std::int64_t waited_ms,
                       const char* transport) {
    ConnectionRow row;
    row.first_message = message;
    row.t_created_ns = ready_ms * kMs / 2;
    row.t_connected_ns = ready_ms * kMs;
    row.waited_ns = waited_ms * kMs;
    row.transport = run.texts.intern(transport);
    run.connections.push_back(row);
  };
  add(0, 400, 300, "rc_mlx5");
  add(0, 350, 250, "tcp");  // another lane of the same message
  add(1, 450, 100, "tcp");  // beside it
  add(2, 500, 0, "tcp");
  add(-1, 900, 900, "tcp");  // of no message
  const std::string what = said(run, "connections-are-long");
  CHECK(has(what, "2 messages waited"));
  CHECK(has(what, "during 350.0 ms"));
  CHECK(has(what, "300.0 ms, for rc_mlx5"));
  SUBCASE("what waited before MPI had begun is no time of ranks") {
    for (RankTime& rank : run.rank_times) rank.t_begin_ns = 451 * kMs;
    CHECK(said(run, "connections-are-long").empty());
  }
  SUBCASE("a small part of the time, or too short") {
    run.connections.resize(1);
    run.connections[0].waited_ns = 999'999;
    CHECK(said(run, "connections-are-long").empty());
    run.connections[0].waited_ns = 2 * kMs;
    CHECK(said(run, "connections-are-long").empty());
  }
  SUBCASE("none") {
    run.connections.clear();
    CHECK(said(run, "connections-are-long").empty());
  }
}

TEST_CASE("ten thousand tiny messages from one place are told") {
  const auto run_of = [](int count, std::uint64_t bytes, const char* function = "MPI_Isend") {
    Run run = quiet_run();
    CallSite site;
    site.label = run.texts.intern("solve (cg.c:42)");
    run.call_sites.push_back(site);
    CallStack stack;
    stack.call_site = 0;
    run.stacks.push_back(stack);
    send(run, {.transport = "posix", .bytes = bytes, .count = count});
    for (Message& message : run.messages) {
      message.stack = 0;
      message.mpi = run.texts.intern(function);
    }
    return run;
  };
  const std::string what = said(run_of(10'000, 8), "many-tiny-messages");
  CHECK(has(what, "10000 messages below 256 B, 8 B on average"));
  CHECK(has(what, "MPI_Isend at solve (cg.c:42)"));
  CHECK(shown_by(run_of(10'000, 8), "many-tiny-messages") ==
        "report --by call-sites --mpi MPI_Isend");
  CHECK(shown_by(run_of(10'000, 8, "x; rm y"), "many-tiny-messages") == "report --by call-sites");
  CHECK(said(run_of(9'999, 8), "many-tiny-messages").empty());
  CHECK(said(run_of(10'000, 256), "many-tiny-messages").empty());
}

TEST_CASE("ranks that do not work evenly are told") {
  Run run = quiet_run(4);
  add_rank_times(run, 100 * kMs, 50 * kMs);
  CHECK(said(run, "ranks-unbalanced").empty());
  run.rank_times[3].mpi_ns = 0;
  CHECK(has(said(run, "ranks-unbalanced"), "rank 3 spent 100.0 ms outside MPI"));
  run.rank_times[0].threads = 2;
  CHECK(said(run, "ranks-unbalanced").empty());
}

TEST_CASE("the rank that others wait for is told, with what it came late to") {
  Run run = quiet_run(4);
  add_rank_times(run, 100 * kMs, 50 * kMs);
  Delay delay;
  delay.process = 2;
  delay.function = run.texts.intern("MPI_Barrier");
  delay.direct_ns = 60 * kMs;
  run.delays.push_back(delay);
  const std::string what = said(run, "rank-makes-others-wait");
  CHECK(has(what, "15 % of their time"));
  CHECK(has(what, "for rank 2"));
  CHECK(has(what, "MPI_Barrier"));
  run.delays[0].direct_ns = 10 * kMs;
  CHECK(said(run, "rank-makes-others-wait").empty());
}

TEST_CASE("settings that differ are told of those that have them") {
  Run run = quiet_run(4);
  set(run, SettingFrom::environment, "UCX_TLS", "tcp", 3, 1);
  CHECK(said(run, "settings-differ") == "rank 3 has UCX_TLS=tcp, all others none");
  Run two = quiet_run(4);
  set(two, SettingFrom::environment, "UCX_TLS", "sm", 0, 2);
  set(two, SettingFrom::environment, "UCX_TLS", "sm", 3, 1);
  set(two, SettingFrom::environment, "UCX_TLS", "tcp", 2, 1);
  CHECK(said(two, "settings-differ") == "rank 2 has UCX_TLS=tcp, all others have UCX_TLS=sm");
  Run all = quiet_run(4);
  set(all, SettingFrom::environment, "UCX_TLS", "sm", 0, 4);
  CHECK(said(all, "settings-differ").empty());
  Run numbered = quiet_run(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    set(numbered, SettingFrom::environment, "MPICH_RANK", std::to_string(i).c_str(), i, 1);
  }
  CHECK(said(numbered, "settings-differ").empty());
}

TEST_CASE("transports that only some opened are told, unless a setting says why") {
  Run run = quiet_run(4);
  set(run, SettingFrom::opened, "cma", "memory", 0, 3);
  set(run, SettingFrom::opened, "posix", "memory", 0, 4);
  CHECK(has(said(run, "transports-differ"), "UCX opened no cma in rank 3"));
  set(run, SettingFrom::opened, "tcp", "eth0", 1, 1);
  set(run, SettingFrom::environment, "UCX_TLS", "posix", 3, 1);
  CHECK(said(run, "transports-differ").empty());
}

}  // namespace
}  // namespace uctrace
