// Makes valid event logs in memory, byte by byte and without the recorder.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "event-log/reader/reader.hpp"

namespace uctrace::log::test {

class LogBuilder {
 public:
  LogBuilder() : bytes_(kProcessPageBytes) {
    page.magic = kMagic;
    page.version = kFormatVersion;
    page.page_bytes = kProcessPageBytes;
    std::strcpy(page.host, "node1");
    std::strcpy(page.boot_id, "boot");
    std::strcpy(page.job, "job");
    page.pid_namespace = 4026531836;
    page.pid = 17;
    page.start_time = 99;
    page.clock = Clock::tsc;
    page.exit = ExitKind::finalized;
    page.closed = 1;
    page.world_size = 1;
    page.thread_level = ThreadLevel::single;
    page.anchor_count = 2;
    page.anchors[0] = {1000, 5000, 7000};
    page.anchors[1] = {2001000, 1005000, 1007000};
  }

  LogBuilder& chunk(Stream stream, std::uint16_t lane, std::uint32_t sequence,
                    std::uint32_t chunk_bytes = kMinChunkBytes) {
    ChunkHeader header{};
    header.magic = kChunkMagic;
    header.bytes = chunk_bytes;
    header.lane = lane;
    header.stream = stream;
    header.sequence = sequence;
    chunk_at_ = bytes_.size();
    position_ = chunk_at_ + sizeof header;
    bytes_.insert(bytes_.end(), chunk_bytes, std::byte{});
    std::memcpy(&bytes_[chunk_at_], &header, sizeof header);
    return *this;
  }

  // Appends `record` (its first `fixed_bytes`) and its tail to the newest chunk and counts it.
  template <typename Record>
  LogBuilder& add(Record record, RecordType type, std::vector<std::uint64_t> tail = {},
                  std::size_t fixed_bytes = sizeof(Record)) {
    record.head.type = type;
    record.head.words = static_cast<std::uint8_t>(fixed_bytes / 8 + tail.size());
    std::memcpy(&bytes_[position_], &record, fixed_bytes);
    if (!tail.empty()) {
      std::memcpy(&bytes_[position_ + fixed_bytes], tail.data(), tail.size() * 8);
    }
    last_record_ = position_;
    position_ += fixed_bytes + tail.size() * 8;
    count_record();
    return *this;
  }

  // The bytes of the file as they stand.
  std::vector<std::byte> bytes() {
    page.lanes_used = static_cast<std::uint32_t>(lanes.size());
    page.allocated_bytes = bytes_.size();
    std::memcpy(bytes_.data(), &page, sizeof page);
    if (!lanes.empty()) {
      std::memcpy(&bytes_[kLanesOffset], lanes.data(), lanes.size() * sizeof(LaneInfo));
    }
    return bytes_;
  }
  LogFile read() { return LogFile::from_bytes(bytes(), "test.ulog"); }

  std::size_t chunk_at() const { return chunk_at_; }
  std::size_t last_record() const { return last_record_; }
  std::size_t position() const { return position_; }

  ProcessPage page{};
  std::vector<LaneInfo> lanes;

 private:
  void count_record() {
    ChunkHeader header;
    std::memcpy(&header, &bytes_[chunk_at_], sizeof header);
    if (lanes.size() <= header.lane) lanes.resize(header.lane + 1u);
    if (header.stream == Stream::events) ++lanes[header.lane].counters.recorded_events;
  }

  std::vector<std::byte> bytes_;
  std::size_t chunk_at_ = 0, position_ = 0, last_record_ = 0;
};

inline std::vector<std::uint64_t> words_of(std::string_view text) {
  std::vector<std::uint64_t> words((text.size() + 7) / 8);
  if (!text.empty()) std::memcpy(words.data(), text.data(), text.size());
  return words;
}

template <typename T>
void patch(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  std::memcpy(&bytes.at(offset), &value, sizeof value);
}

inline UctCompletion completion(std::uint64_t tick) {
  UctCompletion record{};
  record.tick = tick;
  return record;
}

inline LogBuilder one_chunk_of(std::uint64_t completions) {
  LogBuilder log;
  log.chunk(Stream::events, 0, 1);
  for (std::uint64_t i = 1; i <= completions; ++i) {
    log.add(completion(i), RecordType::uct_completion);
  }
  return log;
}

// The word of an MpiPeer.
inline std::uint64_t peer_word(std::int32_t peer, std::int32_t tag) {
  return static_cast<std::uint32_t>(peer) | std::uint64_t{static_cast<std::uint32_t>(tag)} << 32;
}

// An MpiCall that these `parts` follow.
inline MpiCall mpi_call(unsigned function, unsigned parts = 0) {
  MpiCall call{};
  call.head.a = static_cast<std::uint16_t>(function | parts << MpiCall::kFunctionBits);
  return call;
}

template <typename Record>
std::uint64_t word_of(const Record& record) {
  return std::bit_cast<std::uint64_t>(record);
}

// A log with every type of record.
inline LogBuilder full_log() {
  LogBuilder log;
  log.chunk(Stream::events, 0, 1);
  UctOperation operation{};
  operation.head.a = 3;
  operation.head.b = 1;
  operation.op = UctOp::put_zcopy;
  operation.flags = UctOperation::kHasId | UctOperation::kHasLocal | UctOperation::kHasRemote |
                    UctOperation::kHasParent | 2 << UctOperation::kHeaderShift;
  operation.marks = UctOperation::kMemory;
  operation.bytes = 4096;
  log.add(operation, RecordType::uct_operation,
          {11, 12, 13, 16, 14, 15, word_of(TransferMemory{20, kHostMemory})});
  log.add(completion(77), RecordType::uct_completion);
  UctArrival arrival{};
  arrival.header_words = 2;
  arrival.am_id = 9;
  arrival.kind = ArrivalKind::tag_rndv_matched;
  arrival.head.b = 55;
  log.add(arrival, RecordType::uct_arrival, {21, 22});
  UctPending pending{};
  pending.head.b = static_cast<std::uint32_t>(PendingEvent::purged);
  pending.request = 0x77;
  log.add(pending, RecordType::uct_pending);
  MemoryCall memory_call{};
  memory_call.head.a = static_cast<std::uint16_t>(
      static_cast<unsigned>(MemoryFunction::uct_md_mem_reg) |
      static_cast<unsigned>(UctOperation::source_of(Origin::ucp, Route::call)) << 8);
  memory_call.domain = 0x44;
  memory_call.bytes = 4096;
  memory_call.memory = kHostMemory;
  log.add(memory_call, RecordType::memory_call);
  LibraryCall library_call{};
  library_call.head.a = 7;
  library_call.head.b = static_cast<std::uint32_t>(-1);
  library_call.peer = 3;
  library_call.bytes = 800;
  library_call.place = 0x400;
  log.add(library_call, RecordType::library_call);
  library_call.flags = LibraryCall::kStack;
  library_call.place = 12;
  log.add(library_call, RecordType::library_call);
  library_call.flags = LibraryCall::kUnknownBytes | 3 << LibraryCall::kOperationShift;
  log.add(library_call, RecordType::library_call, {0x500, 0x600});
  UcpOperation ucp{};
  ucp.head.a = static_cast<std::uint16_t>(UcpFunction::tag_recv_nbx) |
               (UcpOperation::kProbed | UcpOperation::kMemory) << 8;
  ucp.tag = 0xabc;
  const OperationMemory memory{20, Belief::cuda, 1, BeliefFrom::detection, 0};
  log.add(ucp, RecordType::ucp_operation, {word_of(memory)});
  UcpCompletion done{};
  done.head.b = static_cast<std::uint32_t>(-3);
  done.sender_tag = 5;
  done.length = 6;
  log.add(done, RecordType::ucp_completion);
  constexpr unsigned kBoth = MpiCall::kPeer | MpiCall::kVolume | MpiCall::kReceive;
  log.add(mpi_call(42, kBoth | MpiCall::kRequest | MpiCall::kCaller), RecordType::mpi_call,
          {peer_word(1, 2), 8, 0x88, peer_word(3, 4), 9, 0x99, 0x7777, 0x400});
  MpiCall call = mpi_call(42, MpiCall::kPeer);
  call.scope = 0x5555;
  log.add(call, RecordType::mpi_window_call, {peer_word(1, 2)});
  log.add(mpi_call(43), RecordType::mpi_file_call);
  MpiRequests requests{};
  requests.head.a = MpiRequests::kMore;
  requests.head.b = 2;
  log.add(requests, RecordType::mpi_requests, {0x7777, 0x7778});
  requests.head.a = MpiRequests::kCompleted;
  requests.head.b = 3;
  log.add(requests, RecordType::mpi_requests, {std::uint64_t{1} << 32 | 0, 5});
  requests.head.a = MpiRequests::kPartitions;
  log.add(requests, RecordType::mpi_requests, {std::uint64_t{4} << 32 | 2, 9});

  log.chunk(Stream::definitions, 0, 1);
  Text text{};
  text.head.a = static_cast<std::uint16_t>(TextKind::mpi_function) | Text::kTruncated << 8;
  text.head.b = 11;
  text.id = 42;
  log.add(text, RecordType::text, words_of("MPI_Barrier"));
  UctInterface interface {};
  std::memset(interface.transport, 'x', sizeof interface.transport);  // fills all of it
  std::strcpy(interface.device, "mlx5_0:1");
  interface.device_address_bytes = 9;
  interface.interface_address_bytes = 3;
  interface.offered = 6;
  interface.hooked = 2;
  log.add(interface, RecordType::uct_interface, {1, 2, 3});
  UctEndpoint endpoint{};
  endpoint.handle = 0x1000;
  endpoint.address_bytes = 8;
  log.add(endpoint, RecordType::uct_endpoint_connect, {0x55});
  HandleEnd end{};
  end.handle = 0x1000;
  log.add(end, RecordType::ucp_worker_destroy);
  UcpWorker worker{};
  worker.uid = 0xfeed;
  log.add(worker, RecordType::ucp_worker);
  UcpEndpoint ucp_endpoint{};
  ucp_endpoint.remote_uid = 0xbeef;
  log.add(ucp_endpoint, RecordType::ucp_endpoint);
  UcpConnection connection{};
  connection.head.a = 1;
  connection.handle = 0x2000;
  connection.local.version = 4;
  connection.local.port = 5000;
  log.add(connection, RecordType::ucp_connection);
  Communicator comm{};
  comm.head.a = Communicator::kMembers;
  comm.head.b = 2;
  comm.size = 5;
  comm.leader = 7;
  log.add(comm, RecordType::communicator, {std::uint64_t{2} << 32 | 0, 3, 9, 2});
  Window window{};
  window.handle = 0x5555;
  window.communicator = 0x6666;
  log.add(window, RecordType::window);
  File file{};
  file.handle = 0xf11e;
  log.add(file, RecordType::file);
  Datatype datatype{};
  datatype.head.a =
      static_cast<std::uint16_t>(static_cast<unsigned>(Combiner::vector) | Datatype::kContiguous);
  datatype.head.b = 3;
  datatype.size = 24;
  datatype.extent = -64;
  log.add(datatype, RecordType::datatype, words_of("row"));
  RecordingSwitch recording{};
  recording.head.a = RecordingSwitch::kOn | static_cast<unsigned>(SwitchCause::signal) << 8;
  recording.head.b = 7;
  recording.counters.mpi_calls = 70;
  log.add(recording, RecordType::recording_switch);
  ClockSample sample{};
  sample.head.a = ClockSample::at_end;
  sample.head.b = 35;
  sample.own_ns = 1000;
  sample.peer_ns = 7000;
  sample.round_trip_ns = 12;
  sample.peer_clock = clock_name("other", 5);
  log.add(sample, RecordType::clock_sample);
  ToolTraffic traffic{};
  traffic.tick = 50;
  traffic.end_tick = 60;
  log.add(traffic, RecordType::tool_traffic);
  GpuDriver driver{};
  driver.head.a = static_cast<std::uint16_t>(Vendor::cuda);
  driver.head.b = 13000;
  driver.tick = 70;
  driver.not_before_tick = 60;
  log.add(driver, RecordType::gpu_driver);
  GpuDevice gpu{};
  gpu.head.a = 1;
  gpu.uuid[15] = 0xff;
  gpu.pci = {0x10000, 0x20, 0, 1};
  std::strcpy(gpu.name, "H100");
  log.add(gpu, RecordType::gpu_device);
  DeviceMemory device_memory{};
  device_memory.head.a = 1;
  device_memory.head.b = 20;
  device_memory.begin = 0x7000;
  device_memory.bytes = 100;
  device_memory.kind = DeviceMemoryKind::pool;
  log.add(device_memory, RecordType::device_memory);
  DeviceMemoryEnd memory_end{};
  memory_end.head.a = static_cast<std::uint16_t>(MemoryEnd::replaced);
  memory_end.head.b = 20;
  memory_end.tick = 90;
  memory_end.alive_tick = 80;
  log.add(memory_end, RecordType::device_memory_end);
  UcxDevice ucx_device{};
  ucx_device.head.a = 1;
  ucx_device.pci.bus = 0x20;
  std::strcpy(ucx_device.name, "GPU0");
  log.add(ucx_device, RecordType::ucx_device);
  Fault fault{};
  fault.head.a = static_cast<std::uint16_t>(FaultCode::out_of_interfaces);
  fault.head.b = 4;
  fault.layer = Layer::mpi;
  log.add(fault, RecordType::fault, words_of("many"));
  return log;
}

}  // namespace uctrace::log::test
