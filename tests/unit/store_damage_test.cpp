// Files that are not a store, or a damaged one, are refused with a reason.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <string>

#include "event-log/reader/error.hpp"
#include "log-merger/store/store.hpp"
#include "log-merger/store/store_hdf5.hpp"
#include "tests/unit/store_files.hpp"
#include "tests/unit/stored_runs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace {

namespace fs = std::filesystem;

TEST_CASE("what is not a store of this version is refused with a reason") {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "a.h5";
  CHECK(message_of_load(path).find("there is no such file; merge the logs again") !=
        std::string::npos);
  write_bytes(path, "a,b\n1,2\n");
  CHECK(message_of_load(path).find("it is not an HDF5 file") != std::string::npos);
  { const hdf5::Handle file = hdf5::create_file(path.string()); }
  CHECK(message_of_load(path).find("uctrace did not write") != std::string::npos);
  for (const std::uint32_t schema : {kStoreSchema + 1, kStoreSchema - 1}) {
    {
      const hdf5::Handle file = hdf5::create_file(path.string());
      hdf5::write_attribute(file, "uctrace_schema", schema);
    }
    CHECK(message_of_load(path).find("it has schema " + std::to_string(schema)) !=
          std::string::npos);
  }
  save_store(RandomRun(1).make({20, 20}), path);
  const std::string whole = bytes_of(path);
  write_bytes(path, whole.substr(0, whole.size() / 2));
  CHECK(message_of_load(path).find("truncated") != std::string::npos);
}

TEST_CASE("references that leave their table are refused") {
  const test::TemporaryFolder folder;
  const auto message_after = [&](auto change) {
    Run run = RandomRun(2).make({20, 20});
    change(run);
    save_store(run, folder / "a.h5");
    return message_of_load(folder / "a.h5");
  };
  CHECK(message_after([](Run&) {}) == "no error");
  const auto names = [&](const char* column, auto change) {
    const std::string message = message_after(change);
    CAPTURE(message);
    CHECK(message.find(column) != std::string::npos);
  };
  names("messages/comm", [](Run& run) { run.messages[3].comm = 1000; });
  names("messages/src_process", [](Run& run) { run.messages[3].src_process = 20; });
  names("messages/dst_process", [](Run& run) { run.messages[3].dst_process = -2; });
  names("transfers/process", [](Run& run) { run.transfers[0].process = UINT32_MAX; });
  names("transfers/message", [](Run& run) { run.transfers[19].message = 20; });
  names("hops/message", [](Run& run) { run.hops[0].message = 20; });
  names("gpu_nic/nic", [](Run& run) { run.gpu_nic[3].nic = 20; });
  names("messages/src_gpu", [](Run& run) { run.messages[3].src_gpu = 20; });
  names("ucp_operations/device_memory", [](Run& run) { run.ucp_operations[0].device_memory = -2; });
  names("messages/first_hop", [](Run& run) { run.messages[0] = {.first_hop = 20, .hops = 1}; });
  names("messages/first_hop",
        [](Run& run) { run.messages[0] = {.first_hop = 1, .hops = UINT32_MAX}; });
  names("message_sums/first_hop",
        [](Run& run) { run.message_sums[0] = {.first_hop = 20, .hops = 1}; });
  // Paths that share hops would be longer than the table, all together.
  names("two rows have a part in common", [](Run& run) {
    run.messages[5] = {.first_hop = 3, .hops = 2};
    run.messages[6] = {.first_hop = 4, .hops = 1};
  });
  names("two rows have a part in common", [](Run& run) {
    for (MessageSum& sum : run.message_sums) sum = {.first_hop = 0, .hops = 20};
  });
  names("operation_sums/message_sum", [](Run& run) { run.operation_sums[3].message_sum = 20; });
  names("traffic_classes/first_step",
        [](Run& run) { run.traffic_classes[0] = {.first_step = 20, .steps = 1}; });
  names("cells/first_total", [](Run& run) { run.cells[0] = {.first_total = 20, .totals = 1}; });
  names("class_steps/step", [](Run& run) { run.class_steps[3].step = 20; });
  names("slab_activity/call_group", [](Run& run) { run.slab_activity[3].call_group = 20; });
  // Each would have a number in memory.
  names("run/slabs", [](Run& run) { run.slabs = UINT32_MAX, run.slab_ns = 1; });
  names("run/slabs", [](Run& run) { run.slabs = 16, run.slab_ns = 0; });
  names("run/slabs", [](Run& run) { run.slabs = 16, run.slab_ns = INT64_MAX / 16; });
  names("hop_sums/op", [](Run& run) { run.hop_sums[3].op = 1000; });
  names("call_sums/process", [](Run& run) { run.call_sums[3].process = 20; });
  names("mpi_calls/stack", [](Run& run) { run.mpi_calls[0].stack = 20; });
  names("mpi_calls/communicator", [](Run& run) { run.mpi_calls[0].communicator = -2; });
  names("messages/call", [](Run& run) { run.messages[3].call = 20; });
  names("wait_shares/call", [](Run& run) { run.wait_shares[0].call = 20; });
  names("call_dependencies/on", [](Run& run) { run.call_dependencies[0].on = 20; });
  names("communicators/parent", [](Run& run) { run.communicators[0].parent = 20; });
  names("communicators/first_member",
        [](Run& run) { run.communicators[0] = {.first_member = 20, .members = 1}; });
  names("stacks/call_site", [](Run& run) { run.stacks[0].call_site = -2; });
  names("stack_frames/frame", [](Run& run) { run.stack_frames[19].frame = 20; });
  names("stacks/first_frame", [](Run& run) { run.stacks[0] = {.first_frame = 20, .frames = 1}; });
  names("transfers/t_end_ns", [](Run& run) { run.transfers[7].t_end_ns = INT64_MIN; });
  names("communicators/created_ns",
        [](Run& run) { run.communicators[7].created_ns = std::int64_t{1} << 62; });
  names("kind", [](Run& run) { run.messages[0].kind = static_cast<MessageKind>(6); });
}

TEST_CASE("a path is no longer than any can be") {
  const test::TemporaryFolder folder;
  Run run;
  run.info_json = "{}";
  run.messages.resize(2);
  run.hops.resize(80'000);
  run.messages[1].hops = 1 << 16;
  save_store(run, folder / "a.h5");
  CHECK(message_of_load(folder / "a.h5") == "no error");
  run.messages[1].hops += 1;
  save_store(run, folder / "a.h5");
  CHECK(message_of_load(folder / "a.h5").find("longer than any can be") != std::string::npos);
}

// Of those that are read in parts, too.
TEST_CASE("paths of two parts of a table have no hop in common") {
  const test::TemporaryFolder folder;
  Run run;
  run.info_json = "{}";
  run.messages.resize(2 * kRowsAtOnce);
  run.hops.resize(10);
  run.messages[kRowsAtOnce - 1] = {.first_hop = 2, .hops = 3};
  const auto read_all = [&](std::uint32_t first_hop) {
    run.messages[kRowsAtOnce] = {.first_hop = first_hop, .hops = 3};
    save_store(run, folder / "a.h5");
    const std::optional<StoredRun> stored = open_store(folder / "a.h5", {});
    for_each_message(RowSource(stored->head, stored->readers), {}, Wanted<Hop>::all(),
                     [](const Message&, std::span<const Hop>, std::size_t) {});
  };
  read_all(5);
  CHECK_THROWS_WITH_AS(read_all(4), doctest::Contains("two rows have a part in common"), Error);
}

TEST_CASE("damaged stores are refused or read, never a crash") {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "a.h5";
  Run run = RandomRun(3).make({10, 10});
  run.info_json = "{}";
  save_store(run, path);
  const std::string whole = bytes_of(path);
  std::mt19937_64 random(4);
  std::size_t refused = 0;
  for (int round = 0; round < 150; ++round) {
    std::string bytes = whole;
    bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    write_bytes(path, bytes);
    try {
      check_same(load_store(path), run);  // damage where nothing is stored
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 50);
}

}  // namespace uctrace
