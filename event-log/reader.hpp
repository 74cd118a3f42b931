// The reading side of an event log, for offline code: it throws uctrace::Error and allocates.
//
// Nothing in a log is trusted. Every view that reaches a visitor lies inside the bytes that were
// read, its enumerations have known values and its variable parts fit; whatever does not is counted
// in Damage and left out. A LogFile is a snapshot: a process that is still writing, or a file cut
// short meanwhile, does not disturb it.
//
// Use:   const LogFile log = LogFile::open(path);
//        log.for_each_record(Stream::events, Overloaded{
//            [&](std::uint16_t lane, const UctOperationView& operation) { ... },
//            [&](std::uint16_t lane, const UctCompletionView& completion) { ... }});
// Threads: const members may be called from any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "event-log/reader_files.hpp"
#include "event-log/records.hpp"

namespace uctrace::log {

// Makes one visitor of several lambdas.
template <typename... Parts>
struct Overloaded : Parts... {
  using Parts::operator()...;
};
template <typename... Parts>
Overloaded(Parts...) -> Overloaded<Parts...>;

// --- typed records -------------------------------------------------------------------------------
//
// `r` is a copy of the fixed part; spans and string views point into the LogFile and live as long.
// Views are made by for_each_record() alone, from the words of one record, which parse() checks.

using Words = std::span<const std::uint64_t>;
using Bytes = std::span<const std::byte>;

struct UctOperationView {
  UctOperation r;
  Id id = 0;                                   // 0 = it has none, and no completion follows
  std::optional<std::uint64_t> local, remote;  // addresses, where the operation has them
  Id parent = 0;                               // in whose call it was posted; 0 = none
  Words header;                                // first words of an active message
  std::uint32_t stack = 0;                     // id of a Stack, 0 = none, as in the other events

  std::uint16_t interface_id() const { return r.head.a; }
  bool has_end() const { return id != 0 && (r.flags & UctOperation::kNoEnd) == 0; }
  Origin origin_kind() const { return static_cast<Origin>(r.source & 0xf); }
  Route route() const { return static_cast<Route>(r.source >> 4); }
  bool one_tick() const { return (r.marks & UctOperation::kOneTick) != 0; }
  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  static std::optional<UctOperationView> parse(Words record);
};

struct UctCompletionView {
  UctCompletion r;

  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  static std::optional<UctCompletionView> parse(Words record);
};

struct UctPendingView {
  UctPending r;

  std::uint16_t interface_id() const { return r.head.a; }
  PendingEvent event() const { return static_cast<PendingEvent>(r.head.b); }
  static std::optional<UctPendingView> parse(Words record);
};

struct UctArrivalView {
  UctArrival r;
  Words header;

  std::uint16_t interface_id() const { return r.head.a; }
  std::uint32_t duration_ticks() const { return r.head.b; }
  bool one_tick() const { return (r.marks & UctArrival::kOneTick) != 0; }
  static std::optional<UctArrivalView> parse(Words record);
};

struct UcpOperationView {
  UcpOperation r;
  std::uint32_t stack = 0;

  UcpFunction function() const { return static_cast<UcpFunction>(r.head.a & 0xff); }
  std::uint8_t flags() const { return static_cast<std::uint8_t>(r.head.a >> 8); }
  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  static std::optional<UcpOperationView> parse(Words record);
};

struct UcpCompletionView {
  UcpCompletion r;  // sender_tag and length are 0 unless of_receive
  bool of_receive = false;

  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  bool has_arrival_tick() const { return (r.head.a & UcpCompletion::kArrivalTick) != 0; }
  static std::optional<UcpCompletionView> parse(Words record);
};

struct MpiCallView {
  MpiCall r;
  // What the record does not have is kNone or 0.
  MpiPeer peer{MpiCall::kNone, MpiCall::kNone}, recv_peer{MpiCall::kNone, MpiCall::kNone};
  MpiVolume volume{}, recv_volume{};
  std::uint64_t request = 0;
  std::uint64_t caller = 0;
  std::uint32_t stack = 0;

  bool has(std::uint16_t part) const { return (parts() & part) != 0; }
  bool on_window() const { return r.head.type == RecordType::mpi_window_call; }
  bool on_file() const { return r.head.type == RecordType::mpi_file_call; }
  std::uint16_t function() const { return r.head.a % MpiCall::kMaxFunctions; }
  std::uint16_t parts() const { return r.head.a >> MpiCall::kFunctionBits; }
  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  static std::optional<MpiCallView> parse(Words record);
};

struct MpiRequestsView {
  MpiRequests r;
  Words handles;                     // of the call's requests, unless completed
  std::vector<std::uint32_t> ended;  // positions among them, if completed

  bool completed() const { return (r.head.a & MpiRequests::kCompleted) != 0; }
  bool more() const { return (r.head.a & MpiRequests::kMore) != 0; }
  static std::optional<MpiRequestsView> parse(Words record);
};

struct TextView {
  Text r;
  std::string_view text;  // any bytes: not necessarily UTF-8

  TextKind kind() const { return static_cast<TextKind>(r.head.a & 0xff); }
  bool truncated() const { return (r.head.a >> 8 & Text::kTruncated) != 0; }
  static std::optional<TextView> parse(Words record);
};

struct UctInterfaceView {
  UctInterface r;
  std::string_view transport, device, memory_domain;
  Bytes device_address, interface_address;

  std::uint16_t interface_id() const { return r.head.a; }
  static std::optional<UctInterfaceView> parse(Words record);
};

// Serves uct_endpoint, uct_endpoint_address and uct_endpoint_connect, told apart by type().
struct UctEndpointView {
  UctEndpoint r;
  Bytes device_address, address;

  RecordType type() const { return r.head.type; }
  std::uint16_t interface_id() const { return r.head.a; }
  static std::optional<UctEndpointView> parse(Words record);
};

// Serves every record that ends a handle, told apart by type().
struct HandleEndView {
  HandleEnd r;

  RecordType type() const { return r.head.type; }
  static std::optional<HandleEndView> parse(Words record);
};

struct UcpWorkerView {
  UcpWorker r;

  static std::optional<UcpWorkerView> parse(Words record);
};

struct UcpEndpointView {
  UcpEndpoint r;

  static std::optional<UcpEndpointView> parse(Words record);
};

struct UcpConnectionView {
  UcpConnection r;
  ConnectionSide side() const { return static_cast<ConnectionSide>(r.head.a); }
  static std::optional<UcpConnectionView> parse(Words record);
};

struct CommunicatorView {
  Communicator r;
  std::vector<RankRun> runs;

  bool inter() const { return (r.head.a & Communicator::kInter) != 0; }
  bool truncated() const { return (r.head.a & Communicator::kTruncated) != 0; }
  bool has_members() const { return (r.head.a & Communicator::kMembers) != 0; }
  bool of_tool() const { return (r.head.a & Communicator::kTool) != 0; }
  // World rank of a member of the own group; nothing beyond the known
  // ones. Costs the runs: a lying `count` costs no memory.
  std::optional<std::int32_t> world_rank(std::uint32_t rank) const;
  static std::optional<CommunicatorView> parse(Words record);
};

// Serves windows and files, told apart by type().
struct WindowView {
  Window r;

  RecordType type() const { return r.head.type; }
  static std::optional<WindowView> parse(Words record);
};

struct DatatypeView {
  Datatype r;
  std::string_view name;

  Combiner combiner() const { return static_cast<Combiner>(r.head.a); }
  static std::optional<DatatypeView> parse(Words record);
};

struct StackView {
  Stack r;
  Words addresses;  // innermost first

  std::uint32_t id() const { return r.head.b; }
  bool truncated() const { return (r.head.a & Stack::kTruncated) != 0; }
  bool lost() const { return (r.head.a & Stack::kLost) != 0; }
  static std::optional<StackView> parse(Words record);
};

struct ModuleView {
  Module r;
  Bytes build_id;
  std::string_view path;

  static std::optional<ModuleView> parse(Words record);
};

struct RecordingSwitchView {
  RecordingSwitch r;

  bool on() const { return (r.head.a & RecordingSwitch::kOn) != 0; }
  SwitchCause cause() const { return static_cast<SwitchCause>(r.head.a >> 8); }
  std::uint32_t number() const { return r.head.b; }
  static std::optional<RecordingSwitchView> parse(Words record);
};

struct ClockSampleView {
  ClockSample r;

  ClockSample::End end() const { return static_cast<ClockSample::End>(r.head.a); }
  std::uint32_t round_trips() const { return r.head.b; }
  static std::optional<ClockSampleView> parse(Words record);
};

struct ToolTrafficView {
  ToolTraffic r;

  static std::optional<ToolTrafficView> parse(Words record);
};

struct FaultView {
  Fault r;
  std::string_view detail;

  FaultCode code() const { return static_cast<FaultCode>(r.head.a); }
  static std::optional<FaultView> parse(Words record);
};

// --- clock ---------------------------------------------------------------------------------------

inline constexpr std::int64_t kFarAwayNs = std::int64_t{1} << 61;

// Places a monotonic clock on the job's: `offset_ns` is how far it is behind at `origin_ns` of its
// own time, and `rate` how much more it falls behind in a nanosecond.
struct JobLine {
  std::int64_t origin_ns = 0;
  std::int64_t offset_ns = 0;
  double rate = 0;
};

// A time on the job's clock, within kFarAwayNs of its zero.
std::int64_t on_line(const JobLine& line, std::int64_t own_ns);

// The straight line from the first anchor of a process to its last, from ticks to nanoseconds.
class ClockFit {
 public:
  ClockFit(Clock clock, std::vector<Anchor> anchors);

  // CLOCK_MONOTONIC_RAW of the host at `tick`. Saturates at 0 and INT64_MAX.
  std::int64_t monotonic_ns(std::uint64_t tick) const;
  // The same on the job's clock, once set_job_line() placed this process on it. Within kFarAwayNs
  // of its zero, so that any two differ by what fits.
  std::int64_t job_ns(std::uint64_t tick) const;
  std::int64_t duration_ns(std::uint64_t ticks) const;
  void set_job_line(const JobLine& line) { job_line_ = line; }

  double ns_per_tick() const { return ns_per_tick_; }
  // False where the anchors give no rate: fewer than two instants. Ticks then count as nanoseconds
  // until adopt_rate() gives the rate of another process on the same host.
  bool rate_known() const { return rate_known_; }
  void adopt_rate(double ns_per_tick);

  // Largest distance of an anchor from the line: part of the error bound of every time.
  std::uint64_t max_deviation_ns() const { return max_deviation_ns_; }
  // Anchors whose nanoseconds go back while their ticks go on. Not 0 = do not trust this clock.
  std::uint32_t backward_anchors() const { return backward_anchors_; }
  // Usable anchors in order of their ticks.
  const std::vector<Anchor>& anchors() const { return anchors_; }

 private:
  void measure_deviation();

  std::vector<Anchor> anchors_;
  Anchor origin_{};
  double ns_per_tick_ = 1;
  bool rate_known_ = false;
  JobLine job_line_;
  std::uint64_t max_deviation_ns_ = 0;
  std::uint32_t backward_anchors_ = 0;
};

// --- damage --------------------------------------------------------------------------------------

// What of a log could not be read. All zero = every byte made sense.
struct Damage {
  std::uint64_t truncated_bytes = 0;  // the files are this much shorter than they should be
  std::uint64_t bad_chunks = 0;       // places where no valid block or chunk begins, and duplicates
  std::uint64_t skipped_bytes = 0;    // passed over until the next valid one
  std::uint64_t resyncs = 0;          // valid chunks found again after such a place
  std::uint64_t bad_records = 0;
  std::uint64_t unreadable_tails = 0;     // chunks given up behind a record of impossible size
  std::uint64_t missing_chunks = 0;       // gaps in what a lane and stream recorded
  std::uint64_t unpublished_records = 0;  // begun and never finished, the last of their chunk
  std::uint64_t missing_events = 0;       // counted by their lane, but not found
  std::uint64_t surplus_events = 0;       // found, but not counted by their lane

  bool any() const { return *this != Damage{}; }
  bool operator==(const Damage&) const = default;
  // One plain sentence for each kind that occurred.
  std::vector<std::string> sentences() const;
};

// --- file ----------------------------------------------------------------------------------------

class LogFile {
 public:
  // Reads the whole log once, into memory: the file, and that of its chunks if it is needed. Throws
  // where it is no log that this version reads; a damaged one is read as far as it goes.
  static LogFile open(const std::filesystem::path& path);
  // The same of a copy of `bytes`; `name` stands for the path in messages. `live` is what the file
  // of chunks holds.
  static LogFile from_bytes(Bytes bytes, std::string name, Bytes live = {});

  const std::string& name() const { return name_; }
  bool same_bytes(const LogFile& other) const;
  // Of both files.
  std::uint64_t size_bytes() const { return file_.bytes + live_.bytes; }
  const ProcessPage& page() const { return page_; }
  std::string_view host() const;
  std::string_view boot_id() const;
  std::string_view job() const;
  std::string_view tool_version() const;
  // The lanes that were ever used, by lane number.
  const std::vector<LaneInfo>& lanes() const { return lanes_; }

  // Names the monotonic clock that the process reads: the first exactly, the second as a
  // ClockSample does.
  std::string monotonic_clock() const;
  std::uint64_t clock_name() const;

  // Names the process in its job and everywhere else: host:boot:pid namespace:pid:start time.
  std::string process_key() const;
  // Whether the writer, if it still runs, does so on this machine and in this pid namespace, where
  // it can be seen. Reads /proc.
  bool writer_in_sight() const;
  // Whether it is in sight and runs now. Reads /proc.
  bool is_writer_alive() const;

  const Damage& damage() const { return damage_; }
  // Records that were lost at the writer, for lack of a chunk or a lane.
  std::uint64_t dropped_records() const;
  // Events that gave way to newer ones in a log of bounded size; neither present nor damage. Per
  // lane and kind: LaneCounters::overwritten.
  std::uint64_t overwritten_events() const;
  // Every event of the process that ended after this tick is present; 0 = none was overwritten. Per
  // lane: LaneCounters::overwritten_until_tick.
  std::uint64_t window_start_tick() const;
  std::uint64_t event_count() const { return event_count_; }
  // The process ended its log in an orderly way, and all of it was recorded and read.
  bool complete() const { return page_.closed == 1 && dropped_records() == 0 && !damage_.any(); }

  ClockFit clock() const { return ClockFit(page_.clock, anchors_); }

  // Calls visitor(lane, view) for each valid record of `stream` whose view type it accepts: lane by
  // lane, in the order in which the lane wrote. Records of other types are passed over.
  template <typename Visitor>
  void for_each_record(Stream stream, Visitor&& visitor) const {
    for (const Chunk& chunk : chunks_) {
      if (chunk.stream != stream) continue;
      RecordWalk walk(chunk);
      for (Words record = walk.next(); !record.empty(); record = walk.next()) {
        visit(chunk, record, visitor);
      }
    }
  }

 private:
  // Records of one chunk, from `first` bytes into it on.
  struct Chunk {
    Stream stream;
    std::uint16_t lane;
    std::uint32_t sequence;
    std::uint32_t first;
    Words records;
    const BlockHeader* block;  // that they were packed in; nullptr = they lie as they were written
  };

  // Cuts the words of a chunk into records.
  class RecordWalk {
   public:
    enum class End : std::uint8_t { none, clean, unpublished, impossible_size };
    explicit RecordWalk(const Chunk& chunk) : rest_(chunk.records) {}
    // The next record, empty at the end of the readable part.
    Words next();
    End end() const { return end_; }

   private:
    Words rest_;
    End end_ = End::none;
  };

  LogFile(FileWords file, FileWords live, std::string name);
  void read_page();
  void find_chunks(const FileWords& in, std::size_t offset);
  std::size_t take_chunk(Words words);
  std::size_t take_block(Words words);
  bool is_in_flux(const FileWords& in, std::size_t offset) const;
  void note_cut_files();
  void unpack_blocks();
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
  std::unique_ptr<std::uint64_t[]> unpacked_;  // the records of all blocks
  ProcessPage page_{};
  std::vector<LaneInfo> lanes_;
  std::vector<Chunk> chunks_;  // by stream, lane, sequence and place in the chunk
  std::vector<Anchor> anchors_;
  Damage damage_;
  std::uint64_t event_count_ = 0;
};

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
    case RecordType::recording_switch:
      return visit_as<RecordingSwitchView>(lane, record, visitor);
    case RecordType::unpublished:
      break;
  }
  return false;
}

}  // namespace uctrace::log
