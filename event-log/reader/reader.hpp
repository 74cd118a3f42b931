// The reading side of an event log, for offline code: it throws uctrace::Error and allocates.
//
// Nothing in a log is trusted. Every view that reaches a visitor lies inside the bytes that were
// read, its enumerations have known values, and its variable parts fit; anything else is counted in
// Damage and skipped. A LogFile is a snapshot: neither a process that is still writing nor a
// truncated file disturbs it.
//
// Use:   const LogFile log = LogFile::open(path);
//        log.for_each_record(Stream::events, Overloaded{
//            [&](std::uint16_t lane, const UctOperationView& operation) { ... },
//            [&](std::uint16_t lane, const UctCompletionView& completion) { ... }});
// Threads: const members may be called from any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "event-log/reader/clock_fit.hpp"
#include "event-log/reader/reader_files.hpp"
#include "event-log/reader/views.hpp"
#include "event-log/reader/writer_state.hpp"

namespace uctrace::log {

// Combines several lambdas into one visitor.
template <typename... Parts>
struct Overloaded : Parts... {
  using Parts::operator()...;
};
template <typename... Parts>
Overloaded(Parts...) -> Overloaded<Parts...>;

// --- damage --------------------------------------------------------------------------------------

// The parts of a log that could not be read. All zero = every byte made sense.
struct Damage {
  std::uint64_t truncated_bytes = 0;  // the files are this much shorter than they should be
  std::uint64_t bad_chunks = 0;       // places where no valid block or chunk begins, and duplicates
  std::uint64_t skipped_bytes = 0;    // passed over until the next valid one
  std::uint64_t resyncs = 0;          // valid chunks found again after such a place
  std::uint64_t bad_records = 0;
  std::uint64_t unreadable_tails = 0;     // chunks abandoned after a record of impossible size
  std::uint64_t missing_chunks = 0;       // gaps in the chunks of a lane and stream
  std::uint64_t unpublished_records = 0;  // begun and never finished; the last of their chunk
  std::uint64_t missing_events = 0;       // counted by their lane, but not found
  std::uint64_t surplus_events = 0;       // found, but not counted by their lane

  bool any() const { return *this != Damage{}; }
  bool operator==(const Damage&) const = default;
  // One plain sentence for each kind that occurred.
  std::vector<std::string> sentences() const;
};

// --- file ----------------------------------------------------------------------------------------

// How far the reading of a log has come: the writer's life, the page, the chunks, the blocks.
enum class SnapshotStep : std::uint8_t { writer, page, chunks, blocks };

class LogFile {
 public:
  // Lets tests run the process between two steps.
  using AfterStep = std::function<void(SnapshotStep)>;

  // Reads the whole log once into memory: the file, and the file of its chunks if needed. Throws
  // FileError if it is not a log that this version reads; a damaged log is read as far as possible.
  static LogFile open(const std::filesystem::path& path, const AfterStep& after = {});
  // The head of the log and its lanes: everything the process counted, without records.
  static LogFile open_counters(const std::filesystem::path& path);
  // The definitions and no events: of other blocks only the headers are read.
  static LogFile open_definitions(const std::filesystem::path& path);
  // The same as open() for a copy of `bytes`; `name` stands for the path in messages. `live` is the
  // content of the file of chunks.
  static LogFile from_bytes(Bytes bytes, std::string name, Bytes live = {});

  const std::string& name() const { return name_; }
  bool same_bytes(const LogFile& other) const;
  // The size of both files.
  std::uint64_t size_bytes() const {
    return file_.bytes() + (page_.chunk_bytes == 0 ? live_.bytes() : 0);
  }
  // How much of them is held in memory.
  std::size_t memory_bytes() const { return file_.memory_bytes() + live_.memory_bytes(); }
  const ProcessPage& page() const { return page_; }
  std::string_view host() const;
  std::string_view boot_id() const;
  std::string_view job() const;
  std::string_view tool_version() const;
  // The lanes that were ever used, by lane number.
  const std::vector<LaneInfo>& lanes() const { return lanes_; }

  // Names of the monotonic clock that the process reads: the first exact, the second as in a
  // ClockSample.
  std::string monotonic_clock() const;
  std::uint64_t clock_name() const;

  // The process's unique name, in its job and anywhere: host:boot:pid namespace:pid:start time.
  std::string process_key() const;
  // The state of the process when the snapshot was taken. Only a log that was closed, or whose
  // process was already dead, is final.
  WriterState state() const { return state_; }

  const Damage& damage() const { return damage_; }
  // Records that the writer lost.
  std::uint64_t dropped_records() const;
  // The same by DropCause.
  std::array<std::uint64_t, kDropCauses> dropped_by_cause() const;
  // Events that newer ones overwrote in a log of bounded size; they are neither present nor damage.
  // Per lane and kind: LaneCounters::overwritten.
  std::uint64_t overwritten_events() const;
  // Every event of the process that ended after this tick is present; 0 = none was overwritten. Per
  // lane: LaneCounters::overwritten_until_tick.
  std::uint64_t window_start_tick() const;
  std::uint64_t event_count() const { return event_count_; }
  // How many records of an event type for_each_record() visits.
  std::uint64_t event_count(RecordType type) const {
    return events_of_type_[static_cast<std::size_t>(type)];
  }
  // The process closed its log properly, and everything was recorded and read.
  bool complete() const { return page_.closed == 1 && dropped_records() == 0 && !damage_.any(); }

  ClockFit clock() const { return ClockFit(page_.clock, anchors_); }

  // Calls visitor(lane, view) for each valid record of `stream` whose view type it accepts: lane by
  // lane, in the order in which the lane wrote. Records of other types are skipped. A view is valid
  // until the visitor returns: one block is unpacked at a time.
  template <typename Visitor>
  void for_each_record(Stream stream, Visitor&& visitor) const {
    std::vector<std::uint64_t> room;
    for (const Chunk& chunk : chunks_) {
      if (chunk.stream != stream) continue;
      RecordWalk walk(records_of(chunk, room));
      for (Words record = walk.next(); !record.empty(); record = walk.next()) {
        visit(chunk, record, visitor);
      }
    }
  }

 private:
  // How the records of a chunk end.
  enum class End : std::uint8_t { none, clean, unpublished, impossible_size };
  struct Counted {
    std::uint64_t good = 0, bad = 0;
    std::array<std::uint32_t, kEventTypes> events{};  // by type
    End end = End::none;
  };

  // Records of one chunk, from offset `first` on.
  struct Chunk {
    Stream stream;
    std::uint16_t lane;
    std::uint32_t sequence;
    std::uint32_t first;
    Words records;             // if they lie there unpacked
    const BlockHeader* block;  // if they are packed in it, else nullptr
    Counted counted;           // of a block

    std::size_t bytes() const { return block != nullptr ? block->raw_bytes : records.size_bytes(); }
  };

  // Cuts the words of a chunk into records.
  class RecordWalk {
   public:
    explicit RecordWalk(Words records) : rest_(records) {}
    // The next record, empty at the end of the readable part.
    Words next();
    End end() const { return end_; }

   private:
    Words rest_;
    End end_ = End::none;
  };

  LogFile(FileWords file, FileWords live, std::string name, WriterState state);
  void read_page();
  void read_lanes();
  std::size_t blocks_begin() const;
  void find_chunks(const FileWords& in, std::size_t offset);
  std::size_t take_chunk(const FileWords& in, std::size_t offset);
  std::size_t take_block(const FileWords& in, std::size_t offset);
  bool is_in_flux(const FileWords& in, std::size_t offset) const;
  void note_cut_files();
  static bool unpack(const Chunk& chunk, std::vector<std::uint64_t>& room, Words& records);
  static Words records_of(const Chunk& chunk, std::vector<std::uint64_t>& room);
  static Counted count(const Chunk& chunk, Words records);
  void check_blocks();
  void order_chunks();
  void join_chunks();
  bool may_lack_events_before(const Chunk& chunk, bool is_first) const;
  void check_records();
  void check_lane_counters(const std::vector<std::uint64_t>& events_read);

  template <typename View, typename Visitor>
  static bool visit_as(std::uint16_t lane, Words record, Visitor& visitor) {
    if constexpr (std::is_invocable_v<Visitor&, std::uint16_t, const View&>) {
      const std::optional<View> view = View::parse(record);
      if (view) visitor(lane, *view);
      return view.has_value();
    }
    return true;
  }
  // False: a record that is not valid in this stream, if the visitor accepts its type at all.
  template <typename Visitor>
  static bool visit(const Chunk& chunk, Words record, Visitor& visitor);

  std::string name_;
  FileWords file_, live_;
  WriterState state_;
  ProcessPage page_{};
  std::vector<LaneInfo> lanes_;
  std::vector<Chunk> chunks_;  // sorted by stream, lane, sequence and place in the chunk
  std::vector<Anchor> anchors_;
  Damage damage_;
  std::uint64_t event_count_ = 0;
  std::array<std::uint64_t, kEventTypes> events_of_type_{};
};

// How many events the complete blocks of a log hold, by their headers. 0 if it is not a log.
std::uint64_t count_packed_events(const std::filesystem::path& path);

template <typename Visitor>
bool LogFile::visit(const Chunk& chunk, Words record, Visitor& visitor) {
  const auto type = static_cast<RecordType>(record[0] & 0xff);
  const bool is_definition = type >= RecordType::text;
  if (is_definition != (chunk.stream == Stream::definitions)) return false;
  const std::uint16_t lane = chunk.lane;
  switch (type) {
    case RecordType::uct_operation:
      return visit_as<UctOperationView>(lane, record, visitor);
    case RecordType::uct_completion:
      return visit_as<UctCompletionView>(lane, record, visitor);
    case RecordType::uct_arrival:
      return visit_as<UctArrivalView>(lane, record, visitor);
    case RecordType::uct_pending:
      return visit_as<UctPendingView>(lane, record, visitor);
    case RecordType::memory_call:
      return visit_as<MemoryCallView>(lane, record, visitor);
    case RecordType::ucp_operation:
      return visit_as<UcpOperationView>(lane, record, visitor);
    case RecordType::ucp_completion:
      return visit_as<UcpCompletionView>(lane, record, visitor);
    case RecordType::mpi_call:
    case RecordType::mpi_window_call:
    case RecordType::mpi_file_call:
      return visit_as<MpiCallView>(lane, record, visitor);
    case RecordType::mpi_requests:
      return visit_as<MpiRequestsView>(lane, record, visitor);
    case RecordType::library_call:
      return visit_as<LibraryCallView>(lane, record, visitor);
    case RecordType::kernel_access:
      return visit_as<KernelAccessView>(lane, record, visitor);
    case RecordType::text:
      return visit_as<TextView>(lane, record, visitor);
    case RecordType::uct_interface:
      return visit_as<UctInterfaceView>(lane, record, visitor);
    case RecordType::uct_endpoint:
    case RecordType::uct_endpoint_address:
    case RecordType::uct_endpoint_connect:
      return visit_as<UctEndpointView>(lane, record, visitor);
    case RecordType::uct_interface_close:
    case RecordType::uct_endpoint_destroy:
    case RecordType::ucp_worker_destroy:
    case RecordType::communicator_free:
    case RecordType::datatype_free:
    case RecordType::window_free:
    case RecordType::file_close:
      return visit_as<HandleEndView>(lane, record, visitor);
    case RecordType::ucp_worker:
      return visit_as<UcpWorkerView>(lane, record, visitor);
    case RecordType::ucp_endpoint:
      return visit_as<UcpEndpointView>(lane, record, visitor);
    case RecordType::ucp_connection:
      return visit_as<UcpConnectionView>(lane, record, visitor);
    case RecordType::communicator:
      return visit_as<CommunicatorView>(lane, record, visitor);
    case RecordType::window:
    case RecordType::file:
      return visit_as<WindowView>(lane, record, visitor);
    case RecordType::datatype:
      return visit_as<DatatypeView>(lane, record, visitor);
    case RecordType::stack:
      return visit_as<StackView>(lane, record, visitor);
    case RecordType::module:
      return visit_as<ModuleView>(lane, record, visitor);
    case RecordType::fault:
      return visit_as<FaultView>(lane, record, visitor);
    case RecordType::clock_sample:
      return visit_as<ClockSampleView>(lane, record, visitor);
    case RecordType::tool_traffic:
      return visit_as<ToolTrafficView>(lane, record, visitor);
    case RecordType::gpu_driver:
      return visit_as<GpuDriverView>(lane, record, visitor);
    case RecordType::gpu_device:
      return visit_as<GpuDeviceView>(lane, record, visitor);
    case RecordType::device_memory:
      return visit_as<DeviceMemoryView>(lane, record, visitor);
    case RecordType::device_memory_end:
      return visit_as<DeviceMemoryEndView>(lane, record, visitor);
    case RecordType::ucx_device:
      return visit_as<UcxDeviceView>(lane, record, visitor);
    case RecordType::recording_switch:
      return visit_as<RecordingSwitchView>(lane, record, visitor);
    case RecordType::unpublished:
      break;
  }
  return false;
}

}  // namespace uctrace::log
