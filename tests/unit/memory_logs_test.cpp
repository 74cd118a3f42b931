// The results of reading a process's log about GPUs and their memory: rows, info, notes,
// identities.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "log-merger/audit/describe_gpus.hpp"
#include "log-merger/memory/memory.hpp"
#include "log-merger/merge.hpp"
#include "tests/unit/device_builder.hpp"

namespace uctrace::merge {
namespace {

using log::DeviceMemoryKind;
using log::RecordType;
using log::Stream;
using log::UcpFunction;
using log::test::LogBuilder;
using test::add_driver;
using test::add_gpu;
using test::add_memory;
using test::JobBuilder;
using test::on_gpu;

log::GpuDevice device(std::uint16_t number, unsigned char last_of_uuid, unsigned char bus) {
  log::GpuDevice record{};
  record.head.a = number;
  record.uuid[15] = record.gpu_uuid[15] = last_of_uuid;
  record.pci = {0, bus, 0, 0};
  std::strcpy(record.name, "H100");
  return record;
}

log::DeviceMemory memory(log::MemoryId id, std::uint16_t device, std::uint64_t begin) {
  log::DeviceMemory record{};
  record.head.a = device;
  record.head.b = id;
  record.begin = begin;
  record.bytes = 0x100;
  record.kind = DeviceMemoryKind::device;
  return record;
}

// A process whose send lies in memory 16, which is of the device with that number.
LogBuilder process_with(const log::GpuDevice& gpu, std::uint32_t rank) {
  LogBuilder log;
  log.page.world_rank = static_cast<std::int32_t>(rank);
  log.page.world_size = 2;
  log.page.pid += rank;
  log.page.gpu_driver = 1;
  log.chunk(Stream::definitions, 0, 1);
  log::GpuDriver driver{};
  driver.head.a = static_cast<std::uint16_t>(log::Vendor::cuda);
  log.add(driver, RecordType::gpu_driver);
  log.add(memory(16, gpu.head.a, 0x1000), RecordType::device_memory);  // in any order
  log.add(gpu, RecordType::gpu_device);
  log.chunk(Stream::events, 0, 1);
  log::UcpOperation send{};
  send.head.a = static_cast<std::uint16_t>(static_cast<unsigned>(UcpFunction::tag_send_nbx) |
                                           log::UcpOperation::kMemory << 8);
  send.id = 7;
  send.start_tick = 5000;
  send.bytes = 8;
  log::OperationMemory word{};
  word.own = 16;
  word.believed = log::Belief::host;
  word.believed_from = log::BeliefFrom::cache;
  log.add(send, RecordType::ucp_operation, {log::test::word_of(word)});
  log.lanes[0].counters.ucp_operations = log.lanes[0].counters.ucp_sends = 1;
  log.lanes[0].counters.memory_words = 1;
  return log;
}

Run run_of(std::vector<LogBuilder> builders) {
  LogSet logs{.folder = "folder", .files = {}, .left_out = {}};
  for (LogBuilder& builder : builders) logs.files.push_back(builder.read());
  return merge_logs(std::move(logs), {});
}

Verdict verdict(const Run& run, const std::string& name) {
  const auto found = std::find_if(run.identities.begin(), run.identities.end(),
                                  [&](const Identity& identity) { return identity.name == name; });
  REQUIRE(found != run.identities.end());
  return found->result;
}

TEST_CASE("processes of a host mean the same GPU, whatever they count it as") {
  const Run run =
      run_of({process_with(device(1, 9, 0x10), 0), process_with(device(2, 9, 0x10), 1)});
  REQUIRE(run.gpus.size() == 1);
  CHECK(label_of(run, run.gpus[0]) == "node1/GPU-00000000-0000-0000-0000-000000000009");
  CHECK(run.texts[run.gpus[0].bus] == "0000:10:00.0");
  CHECK(run.texts[run.gpus[0].vendor] == "cuda");
  REQUIRE(run.messages.size() == 2);
  for (const Message& message : run.messages) CHECK(message.src_place() == on_gpu(0));
  REQUIRE(run.device_memory.size() == 2);
  CHECK(run.ucp_operations[1].device_memory == 1);
  CHECK(run.texts[run.ucp_operations[1].believed] == "host");
}

TEST_CASE("memory is there from when it was met to its end, and surely until it was last used") {
  LogBuilder log = process_with(device(1, 9, 0x10), 0);
  log.chunk(Stream::definitions, 0, 2);
  log::DeviceMemoryEnd end{};
  end.head.a = static_cast<std::uint16_t>(log::MemoryEnd::replaced);
  end.head.b = 16;
  end.tick = 9000;
  end.alive_tick = 7000;
  log.add(end, RecordType::device_memory_end);
  const Run run = run_of({log});
  REQUIRE(run.device_memory.size() == 1);
  const DeviceMemoryRow& row = run.device_memory[0];
  // Two ticks are a nanosecond in these logs.
  CHECK(row.to_ns - row.from_ns == 4500);
  CHECK(row.alive_ns - row.from_ns == 3500);
}

TEST_CASE("parts of a GPU are devices of their own") {
  log::GpuDevice part = device(1, 9, 0x10);
  part.uuid[0] = 0xab;
  const Run run = run_of({process_with(part, 0), process_with(device(1, 9, 0x10), 1)});
  REQUIRE(run.gpus.size() == 2);
  CHECK(run.texts[run.gpus[0].uuid] == "MIG-ab000000-0000-0000-0000-000000000009");
  CHECK(run.gpus[0].gpu_uuid == run.gpus[1].uuid);
}

// A device of a vendor, as its processes count its own.
log::GpuDevice device_of(log::Vendor vendor, std::uint16_t number, unsigned char bus) {
  log::GpuDevice record{};
  record.head.a = number;
  record.head.b = 1 | static_cast<std::uint32_t>(vendor) << log::GpuDevice::kVendorShift;
  record.uuid[0] = record.gpu_uuid[0] = 0xe1;
  record.uuid[7] = record.gpu_uuid[7] = bus;
  record.pci = {0, bus, 0, 0};
  return record;
}

TEST_CASE("GPUs are of the vendor that their device says, and named as its tools name them") {
  LogBuilder log = process_with(device_of(log::Vendor::rocm, 65, 0x14), 0);
  log.chunk(Stream::definitions, 0, 2);
  log.add(device_of(log::Vendor::level_zero, 130, 0x18), RecordType::gpu_device);
  log.add(device_of(log::Vendor::cuda, 1, 0x10), RecordType::gpu_device);
  log::GpuDevice tile = device_of(log::Vendor::level_zero, 131, 0x18);
  tile.uuid[15] = 1;
  log.add(tile, RecordType::gpu_device);
  log::GpuDevice nameless = device_of(log::Vendor::rocm, 66, 0x24);
  std::memset(nameless.uuid, 0, sizeof nameless.uuid);
  std::memset(nameless.gpu_uuid, 0, sizeof nameless.gpu_uuid);
  log.add(nameless, RecordType::gpu_device);
  const Run run = run_of({log});
  std::vector<std::string> named;
  for (const Gpu& gpu : run.gpus) {
    named.push_back(run.texts[gpu.vendor] + " " + run.texts[gpu.uuid] + " " + run.texts[gpu.bus]);
  }
  CHECK(named == std::vector<std::string>{
                     "cuda GPU-e1000000-0000-0010-0000-000000000000 0000:10:00.0",
                     "rocm GPU-e100000000000014 0000:14:00.0", "rocm GPU-0000:24:00.0 0000:24:00.0",
                     "level_zero GPU-e1000000-0000-0018-0000-000000000000 0000:18:00.0",
                     "level_zero TILE-e1000000-0000-0018-0000-000000000001 0000:18:00.0"});
  CHECK(run.gpus[3].uuid == run.gpus[4].gpu_uuid);
  CHECK(run.messages[0].src_place() == on_gpu(1));
}

TEST_CASE("a device of a vendor that does not exist is a damaged record") {
  LogBuilder log = process_with(device(1, 9, 0x10), 0);
  log.chunk(Stream::definitions, 0, 2);
  log::GpuDevice strange = device(2, 8, 0x20);
  strange.head.b = static_cast<std::uint32_t>(log::Vendor::kCount) << log::GpuDevice::kVendorShift;
  log.add(strange, RecordType::gpu_device);
  CHECK(run_of({log}).gpus.size() == 1);
}

TEST_CASE("a damaged log: memory of no device, and defined twice") {
  LogBuilder log = process_with(device(1, 9, 0x10), 0);
  log.chunk(Stream::definitions, 0, 2);
  log.add(memory(16, 1, 0x9000), RecordType::device_memory);
  log.add(memory(17, 5, 0x8000), RecordType::device_memory);
  const Run run = run_of({log});
  REQUIRE(run.device_memory.size() == 2);
  CHECK(run.device_memory[0].address == 0x1000);
  CHECK(run.device_memory[1].gpu == kNone);
  CHECK(run.messages[0].src_place() == on_gpu(0));
}

TEST_CASE("info: the layer, the devices, and what UCX took for something else") {
  const Run run =
      run_of({process_with(device(1, 9, 0x10), 0), process_with(device(1, 8, 0x20), 1)});
  const auto info = nlohmann::json::parse(run.info_json);
  CHECK(info["layers"]["gpu"]["state"] == "on");
  CHECK(info["gpu"]["devices"].size() == 2);
  CHECK(info["gpu"]["operations"]["gpu"] == 2);
  CHECK(info["gpu"]["operations"]["host"] == 0);
  REQUIRE(info["gpu"]["disagreements"].size() == 1);
  const auto& found = info["gpu"]["disagreements"][0];
  CHECK(found["memory"] == "device");
  CHECK(found["believed"] == "host");
  CHECK(found["believed_from"] == "cache");
  CHECK(found["operations"] == 2);
  CHECK(found["bytes"] == 16);
  CHECK(std::find(run.notes.begin(), run.notes.end(),
                  "UCX took device memory of a GPU's driver for host memory: 2 operations, 16 B; "
                  "the first is message 0") != run.notes.end());
}

TEST_CASE("info: whether all that was allocated is told, and why not") {
  const auto history = [](auto tell) {
    LogBuilder log = process_with(device(1, 9, 0x10), 0);
    log.chunk(Stream::definitions, 0, 2);
    tell(log);
    return nlohmann::json::parse(run_of({log}).info_json)["gpu"]["history"];
  };
  const auto text = [](LogBuilder& log, std::uint64_t id, const char* value) {
    log::Text text{};
    text.head.a = static_cast<std::uint16_t>(log::TextKind::gpu_history);
    text.head.b = static_cast<std::uint32_t>(std::strlen(value));
    text.id = id;
    log.add(text, RecordType::text, log::test::words_of(value));
  };
  const auto refused = [](LogBuilder& log, std::int32_t value, const char* why) {
    log::Fault fault{};
    fault.head.a = static_cast<std::uint16_t>(log::FaultCode::gpu_history_refused);
    fault.head.b = static_cast<std::uint32_t>(std::strlen(why));
    fault.layer = log::Layer::gpu;
    fault.value = value;
    log.add(fault, RecordType::fault, log::test::words_of(why));
  };
  using Json = nlohmann::json;
  CHECK(history([](LogBuilder&) {}) == Json{{"state", "off"}, {"why", nullptr}, {"by", nullptr}});
  CHECK(history([&](LogBuilder& log) {
          text(log, 1, "plug-in");
          text(log, 0, "CUPTI");
        }) == Json{{"state", "on"}, {"why", nullptr}, {"by", "CUPTI"}});
  CHECK(history([&](LogBuilder& log) { text(log, 1, "plug-in"); })["why"] ==
        "no process initialised a driver of GPUs");
  CHECK(history([&](LogBuilder& log) {
          text(log, 1, "plug-in");
          refused(log, 0, "another tool");
        }) == Json{{"state", "refused"}, {"why", "another tool"}, {"by", nullptr}});
  CHECK(history([&](LogBuilder& log) {
          text(log, 1, "plug-in");
          refused(log, 2, "ROCm has none");
        }) == Json{{"state", "refused"}, {"why", "ROCm has none"}, {"by", nullptr}});
  CHECK(history([&](LogBuilder& log) {
          text(log, 0, "CUPTI");
          refused(log, 2, "ROCm has none");
        }) == Json{{"state", "on"}, {"why", "ROCm has none"}, {"by", "CUPTI"}});
  CHECK(history([&](LogBuilder& log) {
          text(log, 0, "CUPTI");
          refused(log, 1, "");
        }) ==
        Json{{"state", "on"}, {"why", "not all that was told could be kept"}, {"by", "CUPTI"}});
}

TEST_CASE("UCX took memory for another GPU's") {
  JobBuilder builder(1);
  add_driver(builder, 0);
  const Index gpu = add_gpu(builder, "0000:10:00.0");
  add_memory(builder, 0, 16, gpu, 0x1000, 16);
  UcpOp& send = builder.ucp(builder.send(0, 0, 7, 8, 1));
  send.memory = {16, log::Belief::cuda, 3, log::BeliefFrom::detection, 0};
  CHECK(gpu_json(builder.job)["disagreements"].empty());  // device 3 is unknown
  auto& buses = builder.log(0).devices.ucx_device_buses;
  buses[3] = builder.job.run.gpus[0].bus;
  CHECK(gpu_json(builder.job)["disagreements"].empty());
  // UCX does not know the function.
  buses[3] = builder.job.run.texts.intern("0000:10:00.1");
  CHECK(gpu_json(builder.job)["disagreements"].empty());
  buses[3] = builder.job.run.texts.intern("0000:20:00.0");
  const auto found = gpu_json(builder.job)["disagreements"];
  REQUIRE(found.size() == 1);
  CHECK(found[0]["bus"] == "0000:10:00.0");
  CHECK(found[0]["believed_bus"] == "0000:20:00.0");
}

TEST_CASE("a memory word that was counted and is not recorded, or the other way round, is seen") {
  std::vector<LogBuilder> logs{process_with(device(1, 9, 0x10), 0),
                               process_with(device(1, 9, 0x10), 1)};
  CHECK(verdict(run_of(logs), "memory") == Verdict::holds);
  SUBCASE("lost") { ++logs[1].lanes[0].counters.memory_words; }
  SUBCASE("one too many") { --logs[1].lanes[0].counters.memory_words; }
  CHECK(verdict(run_of(logs), "memory") == Verdict::violated);
}

}  // namespace
}  // namespace uctrace::merge
