// Rules about the records and the paths of data, each in both directions: a run with the finding,
// and the most similar one without it.
#include <doctest/doctest.h>

#include <string>

#include "tests/unit/finding_runs.hpp"

namespace uctrace {
namespace {

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
  // The remedy depends on the vendor.
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

}  // namespace
}  // namespace uctrace
