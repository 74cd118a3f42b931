#include "event-log/reader/reader.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "event-log/reader/error.hpp"
#include "tests/unit/log_builder.hpp"

namespace uctrace::log::test {
namespace {

// The only record of type View in `stream`.
template <typename View>
std::vector<View> all(const LogFile& file, Stream stream) {
  std::vector<View> found;
  file.for_each_record(stream, [&](std::uint16_t, const View& view) { found.push_back(view); });
  return found;
}

template <typename View>
View only(const LogFile& file, Stream stream) {
  const std::vector<View> found = all<View>(file, stream);
  REQUIRE(found.size() == 1);
  return found.front();
}

std::string reason_of(std::span<const std::byte> bytes) {
  try {
    LogFile::from_bytes(bytes, "test.ulog");
  } catch (const Error& error) {
    CHECK(error.message().find("test.ulog") != std::string::npos);
    CHECK_FALSE(error.problem().to_do.empty());
    return error.problem().why;
  }
  return "no error";
}

}  // namespace

TEST_CASE("every record type comes back as written") {
  const LogFile file = full_log().read();
  CHECK(file.complete());
  CHECK(file.event_count() == 16);
  CHECK(file.process_key() == "node1:boot:4026531836:17:99");
  CHECK(file.job() == "job");
  CHECK(file.state() == WriterState::closed);

  const auto operation = only<UctOperationView>(file, Stream::events);
  CHECK(operation.interface_id() == 3);
  CHECK(operation.status() == 1);
  CHECK(operation.r.bytes == 4096);
  CHECK(operation.id == 11);
  CHECK(operation.local == 12);
  CHECK(operation.remote == 13);
  CHECK(operation.parent == 16);
  CHECK(operation.has_end());
  REQUIRE(operation.header.size() == 2);
  CHECK(operation.header[1] == 15);
  CHECK(operation.memory.local == 20);
  CHECK(operation.memory.remote == kHostMemory);
  CHECK(only<UctCompletionView>(file, Stream::events).r.tick == 77);
  const auto arrival = only<UctArrivalView>(file, Stream::events);
  CHECK(arrival.duration_ticks() == 55);
  CHECK(arrival.header[1] == 22);
  CHECK(arrival.r.kind == ArrivalKind::tag_rndv_matched);
  const auto pending = only<UctPendingView>(file, Stream::events);
  CHECK(pending.event() == PendingEvent::purged);
  CHECK(pending.r.request == 0x77);
  const auto memory_call = only<MemoryCallView>(file, Stream::events);
  CHECK(memory_call.function() == MemoryFunction::uct_md_mem_reg);
  CHECK(memory_call.origin_kind() == Origin::ucp);
  CHECK(memory_call.route() == Route::call);
  CHECK(memory_call.r.domain == 0x44);
  CHECK(memory_call.r.bytes == 4096);
  const auto library_calls = all<LibraryCallView>(file, Stream::events);
  REQUIRE(library_calls.size() == 3);
  CHECK(library_calls[0].function() == 7);
  CHECK(library_calls[0].status() == -1);
  CHECK(library_calls[0].r.peer == 3);
  CHECK(library_calls[0].r.bytes == 800);
  CHECK(library_calls[0].caller() == 0x400);
  CHECK(library_calls[0].stack() == 0);
  CHECK(library_calls[1].caller() == 0);
  CHECK(library_calls[1].stack() == 12);
  CHECK(library_calls[1].knows_bytes());
  CHECK_FALSE(library_calls[1].operation());
  CHECK_FALSE(library_calls[2].knows_bytes());
  CHECK(library_calls[2].operation() == UccOperation::allreduce);
  CHECK(std::vector(std::begin(library_calls[2].makers), std::end(library_calls[2].makers)) ==
        std::vector<std::uint64_t>{0x500, 0x600, 0, 0});
  const auto ucp = only<UcpOperationView>(file, Stream::events);
  CHECK(ucp.function() == UcpFunction::tag_recv_nbx);
  CHECK(ucp.flags() == (UcpOperation::kProbed | UcpOperation::kMemory));
  CHECK(ucp.memory.own == 20);
  CHECK(ucp.memory.believed == Belief::cuda);
  const auto done = only<UcpCompletionView>(file, Stream::events);
  CHECK(done.status() == -3);
  CHECK(done.of_receive);
  CHECK(done.r.length == 6);
  const auto calls = all<MpiCallView>(file, Stream::events);
  REQUIRE(calls.size() == 3);
  CHECK(calls[0].function() == 42);
  CHECK(calls[0].peer.tag == 2);
  CHECK(calls[0].volume.datatype == 0x88);
  CHECK(calls[0].recv_peer.peer == 3);
  CHECK(calls[0].recv_volume.bytes == 9);
  CHECK(calls[0].request == 0x7777);
  CHECK(calls[0].caller == 0x400);
  CHECK(calls[0].stack == 0);
  CHECK_FALSE(calls[0].on_window());
  CHECK(calls[1].on_window());
  CHECK(calls[1].r.scope == 0x5555);
  CHECK(calls[1].peer.peer == 1);
  CHECK_FALSE(calls[1].has(MpiCall::kVolume));
  CHECK(calls[1].recv_peer.peer == MpiCall::kNone);
  CHECK(calls[2].on_file());
  CHECK(calls[2].function() == 43);
  const auto requests = all<MpiRequestsView>(file, Stream::events);
  REQUIRE(requests.size() == 3);
  CHECK(requests[0].more());
  REQUIRE(requests[0].handles.size() == 2);
  CHECK(requests[0].handles[1] == 0x7778);
  CHECK(requests[1].completed());
  CHECK(requests[1].ended == std::vector<std::uint32_t>{0, 1, 5});
  CHECK(requests[2].of_partitions());
  CHECK(requests[2].partitions == std::vector<std::uint32_t>{2, 4, 9});
  CHECK(requests[2].ended.empty());

  const auto text = only<TextView>(file, Stream::definitions);
  CHECK(text.text == "MPI_Barrier");
  CHECK(text.kind() == TextKind::mpi_function);
  CHECK(text.truncated());
  const auto interface = only<UctInterfaceView>(file, Stream::definitions);
  CHECK(interface.transport == std::string(16, 'x'));
  CHECK(interface.device == "mlx5_0:1");
  CHECK(interface.memory_domain.empty());
  CHECK(interface.device_address.size() == 9);
  CHECK(interface.interface_address[0] == std::byte{3});
  CHECK(interface.r.offered == 6);
  CHECK(interface.r.hooked == 2);
  const auto endpoint = only<UctEndpointView>(file, Stream::definitions);
  CHECK(endpoint.type() == RecordType::uct_endpoint_connect);
  CHECK(endpoint.device_address.empty());
  CHECK(endpoint.address[0] == std::byte{0x55});
  CHECK(only<HandleEndView>(file, Stream::definitions).type() == RecordType::ucp_worker_destroy);
  CHECK(only<UcpWorkerView>(file, Stream::definitions).r.uid == 0xfeed);
  CHECK(only<UcpEndpointView>(file, Stream::definitions).r.remote_uid == 0xbeef);
  const auto connection = only<UcpConnectionView>(file, Stream::definitions);
  CHECK(connection.side() == ConnectionSide::server);
  CHECK(connection.r.local.port == 5000);
  const auto comm = only<CommunicatorView>(file, Stream::definitions);
  CHECK(comm.world_rank(2) == 4);  // first run: 0, 2, 4
  CHECK(comm.world_rank(4) == 9);  // second run: 9, 9
  CHECK_FALSE(comm.world_rank(5).has_value());
  CHECK(comm.has_members());
  CHECK(comm.r.leader == 7);
  const auto windows = all<WindowView>(file, Stream::definitions);
  REQUIRE(windows.size() == 2);
  CHECK(windows[0].r.handle == 0x5555);
  CHECK(windows[0].r.communicator == 0x6666);
  CHECK(windows[1].type() == RecordType::file);
  const auto datatype = only<DatatypeView>(file, Stream::definitions);
  CHECK(datatype.combiner() == Combiner::vector);
  CHECK(datatype.contiguous());
  CHECK(datatype.name == "row");
  CHECK(datatype.r.extent == -64);
  const auto recording = only<RecordingSwitchView>(file, Stream::definitions);
  CHECK(recording.on());
  CHECK(recording.cause() == SwitchCause::signal);
  CHECK(recording.number() == 7);
  CHECK(recording.r.counters.mpi_calls == 70);
  const auto sample = only<ClockSampleView>(file, Stream::definitions);
  CHECK(sample.end() == ClockSample::at_end);
  CHECK(sample.round_trips() == 35);
  CHECK(sample.r.peer_ns == 7000);
  CHECK(sample.r.peer_clock != file.clock_name());
  CHECK(only<ToolTrafficView>(file, Stream::definitions).r.end_tick == 60);
  CHECK(only<GpuDriverView>(file, Stream::definitions).r.not_before_tick == 60);
  const auto gpu = only<GpuDeviceView>(file, Stream::definitions);
  CHECK(gpu.name == "H100");
  CHECK(gpu.r.pci.domain == 0x10000);
  const auto memory = only<DeviceMemoryView>(file, Stream::definitions);
  CHECK(memory.id() == 20);
  CHECK(memory.r.kind == DeviceMemoryKind::pool);
  CHECK(only<DeviceMemoryEndView>(file, Stream::definitions).how() == MemoryEnd::replaced);
  CHECK(only<UcxDeviceView>(file, Stream::definitions).name == "GPU0");
  const auto fault = only<FaultView>(file, Stream::definitions);
  CHECK(fault.detail == "many");
  CHECK(fault.code() == FaultCode::out_of_interfaces);
}

TEST_CASE("stacks, their modules, and the word behind an event that names its stack") {
  LogBuilder log;
  log.chunk(Stream::events, 0, 1);
  UctOperation operation{};
  operation.op = UctOp::am_short;
  operation.flags = UctOperation::kHasId | 1 << UctOperation::kHeaderShift;
  log.add(operation, RecordType::uct_operation, {7, 8, 5});
  log.add(operation, RecordType::uct_operation, {7, 8});
  UcpOperation ucp{};
  ucp.head.a = static_cast<std::uint16_t>(UcpFunction::put_nbx);
  log.add(ucp, RecordType::ucp_operation, {6});
  log.add(mpi_call(0, MpiCall::kStack), RecordType::mpi_call, {1});
  log.add(mpi_call(0, MpiCall::kPeer | MpiCall::kStack), RecordType::mpi_call, {0, 2});
  log.add(mpi_call(0), RecordType::mpi_call);
  log.chunk(Stream::definitions, 0, 1);
  Stack stack{};
  stack.head.a = Stack::kLost;
  stack.head.b = 5;
  log.add(stack, RecordType::stack, {0x1000, 0x2000});
  log.add(Stack{}, RecordType::stack, {0x1000});  // no id
  log.add(stack, RecordType::stack, std::vector<std::uint64_t>(kMaxStackFrames + 1));
  Module module{};
  module.head.a = 3;
  module.head.b = 4;
  module.begin = 0x1000;
  module.end = 0x3000;
  log.add(module, RecordType::module, {0x030201, 0x6162632f});
  module.end = module.begin;
  log.add(module, RecordType::module, {0x030201, 0x6162632f});

  const LogFile file = log.read();
  const auto operations = all<UctOperationView>(file, Stream::events);
  REQUIRE(operations.size() == 2);
  CHECK(operations[0].stack == 5);
  CHECK(operations[0].header.size() == 1);
  CHECK(operations[1].stack == 0);
  CHECK(only<UcpOperationView>(file, Stream::events).stack == 6);
  const auto calls = all<MpiCallView>(file, Stream::events);
  REQUIRE(calls.size() == 3);
  CHECK(calls[0].stack == 1);
  CHECK(calls[1].stack == 2);
  CHECK(calls[2].stack == 0);
  const auto read_stack = only<StackView>(file, Stream::definitions);
  CHECK(read_stack.id() == 5);
  CHECK(read_stack.lost());
  CHECK_FALSE(read_stack.truncated());
  CHECK(read_stack.addresses.size() == 2);
  CHECK(read_stack.addresses[1] == 0x2000);
  const auto read_module = only<ModuleView>(file, Stream::definitions);
  CHECK(read_module.path == "/cba");
  CHECK(read_module.build_id.size() == 3);
  CHECK(read_module.build_id[2] == std::byte{3});
  CHECK(file.damage().bad_records == 3);
}

TEST_CASE("short forms of records have neutral values behind their end") {
  LogBuilder log;
  log.chunk(Stream::events, 0, 1);
  UcpCompletion done{};
  done.length = 9;
  log.add(mpi_call(0, MpiCall::kVolume), RecordType::mpi_call, {7, 8});
  log.add(done, RecordType::ucp_completion, {}, kSendCompletionWords * 8);
  const LogFile file = log.read();
  const auto view = only<MpiCallView>(file, Stream::events);
  CHECK(view.volume.bytes == 7);
  CHECK(view.peer.peer == MpiCall::kNone);
  CHECK(view.recv_peer.tag == MpiCall::kNone);
  CHECK(view.recv_volume.bytes == 0);
  CHECK_FALSE(only<UcpCompletionView>(file, Stream::events).of_receive);
  CHECK(only<UcpCompletionView>(file, Stream::events).r.length == 0);
}

TEST_CASE("records of MPI whose size is not what their head says are damage") {
  LogBuilder log;
  log.chunk(Stream::events, 0, 1);
  log.add(mpi_call(0, MpiCall::kPeer), RecordType::mpi_call);
  log.add(mpi_call(0, MpiCall::kPeer), RecordType::mpi_call, {1, 2});
  log.add(mpi_call(0, MpiCall::kCaller | MpiCall::kStack), RecordType::mpi_call, {1, 2});
  MpiRequests requests{};
  requests.head.b = 3;
  log.add(requests, RecordType::mpi_requests, {1, 2});
  requests.head.a = MpiRequests::kCompleted;
  log.add(requests, RecordType::mpi_requests, {1, 2, 3});
  requests.head.a = MpiRequests::kCompleted | MpiRequests::kPartitions;
  log.add(requests, RecordType::mpi_requests, {1, 2});
  requests.head.b = UINT32_MAX;
  log.add(requests, RecordType::mpi_requests, {1, 2});
  log.chunk(Stream::definitions, 0, 1);
  Datatype datatype{};
  datatype.head.a = static_cast<std::uint16_t>(Combiner::kCount);
  log.add(datatype, RecordType::datatype);
  const LogFile file = log.read();
  CHECK(file.damage().bad_records == 8);
  CHECK(all<MpiCallView>(file, Stream::events).empty());
  CHECK(all<MpiRequestsView>(file, Stream::events).empty());
}

TEST_CASE("a library call of another size, or with unknown flags, is damage") {
  LogBuilder log;
  log.chunk(Stream::events, 0, 1);
  LibraryCall call{};
  log.add(call, RecordType::library_call, {1, 2, 3, 4, 5});
  call.flags = LibraryCall::kUnknownBytes << 1;
  log.add(call, RecordType::library_call);
  call.flags = (static_cast<std::uint32_t>(UccOperation::kCount) + 1)
               << LibraryCall::kOperationShift;
  log.add(call, RecordType::library_call);
  const LogFile file = log.read();
  CHECK(file.damage().bad_records == 3);
  CHECK(all<LibraryCallView>(file, Stream::events).empty());
}

TEST_CASE("records come lane by lane, in the order of writing, whatever the order of chunks") {
  LogBuilder log;
  log.chunk(Stream::events, 1, 2).add(completion(3), RecordType::uct_completion);
  log.chunk(Stream::events, 0, 1, 2 * kMinChunkBytes)
      .add(completion(1), RecordType::uct_completion);
  log.chunk(Stream::definitions, 0, 0);  // a spare
  log.chunk(Stream::events, 1, 1).add(completion(2), RecordType::uct_completion);
  const LogFile file = log.read();
  CHECK(file.complete());
  std::vector<std::uint64_t> ticks;
  file.for_each_record(Stream::events, [&](std::uint16_t lane, const UctCompletionView& view) {
    CHECK(lane == (view.r.tick == 1 ? 0 : 1));
    ticks.push_back(view.r.tick);
  });
  CHECK(ticks == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("a file that is no log of this version is refused with a reason") {
  std::vector<std::byte> bytes = one_chunk_of(1).bytes();
  CHECK(reason_of({}) == "its process had not begun to write it");
  CHECK(reason_of(std::span(bytes).first(100)) == "it is cut short within its first page");
  CHECK(reason_of(std::span(bytes).first(10)) == "it is cut short within its first page");
  auto changed = [&](std::size_t offset, auto value) {
    auto copy = bytes;
    patch(copy, offset, value);
    return reason_of(copy);
  };
  CHECK(changed(0, std::uint64_t{0}) == "its process had not begun to write it");
  CHECK(changed(0, std::uint64_t{1}) == "it is not a uctrace log");
  CHECK(changed(0, __builtin_bswap64(kMagic)) == "it comes from a machine of the other byte order");
  const auto refused = [](std::uint32_t version) {
    return "it has format " + std::to_string(version) + ", this uctrace reads format " +
           std::to_string(kFormatVersion);
  };
  CHECK(changed(8, kFormatVersion + 1) == refused(kFormatVersion + 1));
  CHECK(changed(8, kFormatVersion - 1) == refused(kFormatVersion - 1));
  for (const std::size_t offset :
       {offsetof(ProcessPage, page_bytes), offsetof(ProcessPage, clock),
        offsetof(ProcessPage, exit), offsetof(ProcessPage, layers), offsetof(ProcessPage, closed),
        offsetof(ProcessPage, lanes_used), offsetof(ProcessPage, anchor_count)}) {
    CHECK(changed(offset, std::uint16_t{0xfff}) == "its first page is damaged");
  }
}

TEST_CASE("files: missing ones, folders and pipes are refused, logs read") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("uctrace-reader-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  CHECK_THROWS_WITH_AS(LogFile::open(folder / "none"), doctest::Contains("No such file"), Error);
  CHECK_THROWS_WITH_AS(LogFile::open(folder), doctest::Contains("not a regular file"), Error);
  CHECK_THROWS_WITH_AS(LogFile::open("/dev/zero"), doctest::Contains("not a regular file"), Error);
  const std::vector<std::byte> bytes = full_log().bytes();
  std::ofstream(folder / "a.ulog", std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  CHECK(LogFile::open(folder / "a.ulog").complete());
  std::filesystem::remove_all(folder);
}

TEST_CASE("a writer runs only if it is this very process, and is dead only if it would be seen") {
  // A log that names the running test itself.
  const auto field = [](const char* path) {
    std::string line;
    std::ifstream file(path);
    std::getline(file, line);
    return line;
  };
  LogBuilder log = one_chunk_of(1);
  log.page.closed = 0;
  std::memset(log.page.host, 0, sizeof log.page.host);
  ::gethostname(log.page.host, sizeof log.page.host - 1);
  const std::string boot = field("/proc/sys/kernel/random/boot_id");
  std::strcpy(log.page.boot_id, boot.c_str());
  const auto name_space = [](const char* path) {
    const std::string link = std::filesystem::read_symlink(path).string();
    return std::stoull(link.substr(link.find('[') + 1));
  };
  log.page.pid_namespace = name_space("/proc/self/ns/pid");
  log.page.time_namespace = name_space("/proc/self/ns/time");
  log.page.pid = static_cast<std::uint32_t>(::getpid());
  std::istringstream stat(field("/proc/self/stat"));
  std::string word;
  for (int i = 0; i < 22; ++i) stat >> word;  // the name of this test holds no space
  log.page.start_time = std::stoull(word);
  CHECK(log.read().state() == WriterState::running);
  log.page.closed = 1;
  CHECK(log.read().state() == WriterState::closed);
  log.page.closed = 0;
  log.page.start_time += 1;
  CHECK(log.read().state() == WriterState::dead);
  SUBCASE("another host") { log.page.host[0] ^= 1; }
  SUBCASE("since another start of the host") { log.page.boot_id[0] ^= 1; }
  SUBCASE("another pid namespace") { ++log.page.pid_namespace; }
  SUBCASE("another time namespace, where start times are others") { ++log.page.time_namespace; }
  SUBCASE("it could not tell when it began") { log.page.start_time = 0; }
  CHECK(log.read().state() == WriterState::unseen);
}

}  // namespace uctrace::log::test
