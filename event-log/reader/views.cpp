#include "event-log/reader/views.hpp"

#include <algorithm>
#include <cstring>

namespace uctrace::log {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

constexpr std::size_t words_for(std::size_t bytes) { return (bytes + kWordBytes - 1) / kWordBytes; }

// The fixed part of a record; a record that is too short leaves the rest of `fixed` unchanged.
template <typename Record>
bool copy_fixed(Words record, Record& fixed, std::size_t least_words = sizeof(Record) / 8) {
  if (record.size() < least_words) return false;
  if (record.size_bytes() >= sizeof fixed) {
    std::memcpy(&fixed, record.data(), sizeof fixed);  // known size: a few instructions
  } else {
    std::memcpy(&fixed, record.data(), record.size_bytes());
  }
  return true;
}

// Takes the optional words after the fixed part of a record, piece by piece.
class Tail {
 public:
  Tail(Words record, std::size_t fixed_bytes) : rest_(record.subspan(fixed_bytes / kWordBytes)) {}

  bool take_words(std::size_t count, Words& out) {
    if (count > rest_.size()) return false;
    out = rest_.first(count);
    rest_ = rest_.subspan(count);
    return true;
  }
  bool take_bytes(std::size_t count, Bytes& out) {
    Words words;
    if (!take_words(words_for(count), words)) return false;
    out = std::as_bytes(words).first(count);
    return true;
  }
  Words rest() const { return rest_; }
  bool take_text(std::size_t count, std::string_view& out) {
    Bytes bytes;
    if (!take_bytes(count, bytes)) return false;
    out = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    return true;
  }

 private:
  Words rest_;
};

// A record of one word; without the word it stays unchanged.
template <typename Record>
bool take_word(Tail& tail, bool has, Record& out) {
  static_assert(sizeof out == kWordBytes);
  Words word;
  if (!has) return true;
  if (!tail.take_words(1, word)) return false;
  std::memcpy(&out, word.data(), sizeof out);
  return true;
}

// The id of a call stack, if there is a word for it after the rest of the record.
std::uint32_t stack_in(Words word) {
  return word.empty() ? 0 : static_cast<std::uint32_t>(word.front());
}

// A text in a fixed array at `offset`, ended by a NUL or the end of the array.
std::string_view fixed_text(Words record, std::size_t offset, std::size_t capacity) {
  const char* text = reinterpret_cast<const char*>(record.data()) + offset;
  return {text, strnlen(text, capacity)};
}

}  // namespace

std::optional<UctOperationView> UctOperationView::parse(Words record) {
  UctOperationView view;
  if (!copy_fixed(record, view.r)) return std::nullopt;
  const UctOperation& r = view.r;
  const std::size_t header_words = UctOperation::header_words(r.flags);
  if (r.op == UctOp::none || r.op >= UctOp::kCount || view.origin_kind() > Origin::arrival ||
      view.route() > Route::callback || header_words > kMaxHeaderWords) {
    return std::nullopt;
  }
  Tail tail(record, sizeof(UctOperation));
  Words word;
  if (r.flags & UctOperation::kHasId) {
    if (!tail.take_words(1, word)) return std::nullopt;
    view.id = word[0];
  }
  if (r.flags & UctOperation::kHasLocal) {
    if (!tail.take_words(1, word)) return std::nullopt;
    view.local = word[0];
  }
  if (r.flags & UctOperation::kHasRemote) {
    if (!tail.take_words(1, word)) return std::nullopt;
    view.remote = word[0];
  }
  if (r.flags & UctOperation::kHasParent) {
    if (!tail.take_words(1, word)) return std::nullopt;
    view.parent = word[0];
  }
  if (!tail.take_words(header_words, view.header) ||
      !take_word(tail, (r.marks & UctOperation::kMemory) != 0, view.memory) ||
      !is_memory_id(view.memory.local) || !is_memory_id(view.memory.remote)) {
    return std::nullopt;
  }
  view.stack = stack_in(tail.rest());
  return view;
}

std::optional<UctCompletionView> UctCompletionView::parse(Words record) {
  UctCompletionView view;
  if (!copy_fixed(record, view.r)) return std::nullopt;
  return view;
}

std::optional<UctArrivalView> UctArrivalView::parse(Words record) {
  UctArrivalView view;
  if (!copy_fixed(record, view.r) || view.r.header_words > kMaxHeaderWords ||
      view.r.kind >= ArrivalKind::kCount ||
      !Tail(record, sizeof(UctArrival)).take_words(view.r.header_words, view.header)) {
    return std::nullopt;
  }
  return view;
}

std::optional<UctPendingView> UctPendingView::parse(Words record) {
  UctPendingView view;
  if (!copy_fixed(record, view.r) || view.event() == PendingEvent::none ||
      view.r.head.b >= static_cast<std::uint32_t>(PendingEvent::kCount)) {
    return std::nullopt;
  }
  return view;
}

std::optional<MemoryCallView> MemoryCallView::parse(Words record) {
  MemoryCallView view;
  if (!copy_fixed(record, view.r) || view.function() == MemoryFunction::none ||
      view.function() >= MemoryFunction::kCount || !is_memory_id(view.r.memory)) {
    return std::nullopt;
  }
  return view;
}

std::optional<KernelAccessView> KernelAccessView::parse(Words record) {
  KernelAccessView view;
  if (!copy_fixed(record, view.r) ||
      view.r.head.a >= static_cast<unsigned>(MemoryFunction::kCount) ||
      !is_memory_id(view.memory())) {
    return std::nullopt;
  }
  const MemoryAction action = action_of(view.function());
  if (action != MemoryAction::kernel_endpoint && action != MemoryAction::kernel_memory) {
    return std::nullopt;
  }
  return view;
}

std::optional<UcpOperationView> UcpOperationView::parse(Words record) {
  UcpOperationView view;
  if (!copy_fixed(record, view.r) || view.function() == UcpFunction::none ||
      view.function() >= UcpFunction::kCount) {
    return std::nullopt;
  }
  Tail tail(record, sizeof(UcpOperation));
  if (!take_word(tail, (view.flags() & UcpOperation::kMemory) != 0, view.memory) ||
      !is_memory_id(view.memory.own) || view.memory.believed >= Belief::kCount ||
      view.memory.believed_from >= BeliefFrom::kCount) {
    return std::nullopt;
  }
  view.stack = stack_in(tail.rest());
  return view;
}

std::optional<UcpCompletionView> UcpCompletionView::parse(Words record) {
  UcpCompletionView view{};
  if (!copy_fixed(record, view.r, kSendCompletionWords)) return std::nullopt;
  view.of_receive = record.size_bytes() >= sizeof(UcpCompletion);
  if (!view.of_receive) view.r.sender_tag = view.r.length = 0;
  return view;
}

std::optional<MpiCallView> MpiCallView::parse(Words record) {
  MpiCallView view;
  if (!copy_fixed(record, view.r)) return std::nullopt;
  const bool two_places = view.has(MpiCall::kCaller) && view.has(MpiCall::kStack);
  if (two_places || record.size() != MpiCall::words_of(view.parts())) return std::nullopt;
  Words rest = record.subspan(sizeof(MpiCall) / kWordBytes);
  const auto take = [&](std::uint16_t part, auto& out) {
    if (!view.has(part)) return;
    std::memcpy(&out, rest.data(), sizeof out);
    rest = rest.subspan(words_for(sizeof out));
  };
  take(MpiCall::kPeer, view.peer);
  take(MpiCall::kVolume, view.volume);
  take(MpiCall::kReceive, view.recv_peer);
  take(MpiCall::kReceive, view.recv_volume);
  take(MpiCall::kRequest, view.request);
  take(MpiCall::kCaller, view.caller);
  std::uint64_t stack = 0;
  take(MpiCall::kStack, stack);
  view.stack = static_cast<std::uint32_t>(stack);
  return view;
}

std::optional<MpiRequestsView> MpiRequestsView::parse(Words record) {
  MpiRequestsView view;
  if (!copy_fixed(record, view.r) || view.r.head.b > MpiRequests::kMost ||
      record.size() != MpiRequests::words_of(view.r.head.a, view.r.head.b)) {
    return std::nullopt;
  }
  const Words rest = record.subspan(sizeof(MpiRequests) / kWordBytes);
  if (view.completed() && view.of_partitions()) return std::nullopt;
  if (!view.completed() && !view.of_partitions()) {
    view.handles = rest;
    return view;
  }
  std::vector<std::uint32_t>& numbers = view.completed() ? view.ended : view.partitions;
  numbers.resize(view.r.head.b);
  if (!numbers.empty()) {
    std::memcpy(numbers.data(), rest.data(), numbers.size() * sizeof numbers[0]);
  }
  return view;
}

std::optional<LibraryCallView> LibraryCallView::parse(Words record) {
  LibraryCallView view;
  constexpr std::uint32_t kFlags = LibraryCall::kStack | LibraryCall::kUnknownBytes;
  constexpr std::uint32_t kOtherFlags = (1u << LibraryCall::kOperationShift) - 1 - kFlags;
  if (!copy_fixed(record, view.r) ||
      record.size_bytes() > sizeof(LibraryCall) + sizeof view.makers ||
      (view.r.flags & kOtherFlags) != 0 ||
      view.r.flags >> LibraryCall::kOperationShift >
          static_cast<std::uint32_t>(UccOperation::kCount)) {
    return std::nullopt;
  }
  const Words makers = record.subspan(sizeof(LibraryCall) / sizeof(std::uint64_t));
  std::copy(makers.begin(), makers.end(), view.makers);
  return view;
}

std::optional<TextView> TextView::parse(Words record) {
  TextView view;
  if (!copy_fixed(record, view.r) || view.kind() < TextKind::command_line ||
      view.kind() >= TextKind::kCount ||
      !Tail(record, sizeof(Text)).take_text(view.r.head.b, view.text)) {
    return std::nullopt;
  }
  return view;
}

std::optional<UctInterfaceView> UctInterfaceView::parse(Words record) {
  UctInterfaceView view;
  if (!copy_fixed(record, view.r)) return std::nullopt;
  const UctInterface& r = view.r;
  view.transport = fixed_text(record, offsetof(UctInterface, transport), sizeof r.transport);
  view.device = fixed_text(record, offsetof(UctInterface, device), sizeof r.device);
  view.memory_domain =
      fixed_text(record, offsetof(UctInterface, memory_domain), sizeof r.memory_domain);
  Tail tail(record, sizeof(UctInterface));
  if (!tail.take_bytes(r.device_address_bytes, view.device_address) ||
      !tail.take_bytes(r.interface_address_bytes, view.interface_address)) {
    return std::nullopt;
  }
  return view;
}

std::optional<UctEndpointView> UctEndpointView::parse(Words record) {
  UctEndpointView view;
  if (!copy_fixed(record, view.r)) return std::nullopt;
  Tail tail(record, sizeof(UctEndpoint));
  if (!tail.take_bytes(view.r.device_address_bytes, view.device_address) ||
      !tail.take_bytes(view.r.address_bytes, view.address)) {
    return std::nullopt;
  }
  return view;
}

std::optional<HandleEndView> HandleEndView::parse(Words record) {
  HandleEndView view;
  if (!copy_fixed(record, view.r)) return std::nullopt;
  return view;
}

std::optional<UcpWorkerView> UcpWorkerView::parse(Words record) {
  UcpWorkerView view;
  if (!copy_fixed(record, view.r)) return std::nullopt;
  return view;
}

std::optional<UcpEndpointView> UcpEndpointView::parse(Words record) {
  UcpEndpointView view;
  if (!copy_fixed(record, view.r)) return std::nullopt;
  return view;
}

std::optional<UcpConnectionView> UcpConnectionView::parse(Words record) {
  UcpConnectionView view;
  const auto known = [](const SocketAddress& address) {
    return address.version == 0 || address.version == 4 || address.version == 6;
  };
  if (!copy_fixed(record, view.r) || view.side() > ConnectionSide::server || !known(view.r.local) ||
      !known(view.r.remote)) {
    return std::nullopt;
  }
  return view;
}

std::optional<CommunicatorView> CommunicatorView::parse(Words record) {
  CommunicatorView view;
  if (!copy_fixed(record, view.r)) return std::nullopt;
  const std::size_t count = view.r.head.b;
  Words words;
  if (count > record.size() ||
      !Tail(record, sizeof(Communicator)).take_words(count * words_for(sizeof(RankRun)), words)) {
    return std::nullopt;
  }
  view.runs.resize(count);
  if (count != 0) std::memcpy(view.runs.data(), words.data(), words.size_bytes());
  for (const RankRun& run : view.runs) {
    if (run.count == 0) return std::nullopt;
    const std::int64_t steps = run.count - std::int64_t{1};
    // |stride| * steps < 2^63: both are below 2^32.
    const std::int64_t last = run.first + run.stride * steps;
    if (run.first < 0 || last < 0 || last > INT32_MAX) return std::nullopt;
  }
  return view;
}

std::optional<std::int32_t> CommunicatorView::world_rank(std::uint32_t rank) const {
  for (const RankRun& run : runs) {
    if (rank < run.count) {
      return static_cast<std::int32_t>(run.first + std::int64_t{run.stride} * rank);
    }
    rank -= run.count;
  }
  return std::nullopt;
}

std::optional<WindowView> WindowView::parse(Words record) {
  WindowView view;
  if (!copy_fixed(record, view.r)) return std::nullopt;
  return view;
}

std::optional<DatatypeView> DatatypeView::parse(Words record) {
  DatatypeView view;
  if (!copy_fixed(record, view.r) || view.combiner() >= Combiner::kCount ||
      !Tail(record, sizeof(Datatype)).take_text(view.r.head.b, view.name)) {
    return std::nullopt;
  }
  return view;
}

std::optional<StackView> StackView::parse(Words record) {
  StackView view;
  if (!copy_fixed(record, view.r) || view.id() == 0) return std::nullopt;
  view.addresses = Tail(record, sizeof(Stack)).rest();
  if (view.addresses.size() > kMaxStackFrames) return std::nullopt;
  return view;
}

std::optional<ModuleView> ModuleView::parse(Words record) {
  ModuleView view;
  if (!copy_fixed(record, view.r) || view.r.begin >= view.r.end) return std::nullopt;
  Tail tail(record, sizeof(Module));
  if (!tail.take_bytes(view.r.head.a, view.build_id) || !tail.take_text(view.r.head.b, view.path)) {
    return std::nullopt;
  }
  return view;
}

std::optional<RecordingSwitchView> RecordingSwitchView::parse(Words record) {
  RecordingSwitchView view;
  if (!copy_fixed(record, view.r) || view.cause() >= SwitchCause::kCount) return std::nullopt;
  return view;
}

std::optional<ClockSampleView> ClockSampleView::parse(Words record) {
  ClockSampleView view;
  if (!copy_fixed(record, view.r) || view.end() >= ClockSample::kEnds) return std::nullopt;
  return view;
}

std::optional<ToolTrafficView> ToolTrafficView::parse(Words record) {
  ToolTrafficView view;
  if (!copy_fixed(record, view.r) || view.r.end_tick < view.r.tick) return std::nullopt;
  return view;
}

std::optional<GpuDriverView> GpuDriverView::parse(Words record) {
  GpuDriverView view;
  if (!copy_fixed(record, view.r) || view.vendor() == Vendor::none ||
      view.r.head.a >= static_cast<std::uint16_t>(Vendor::kCount) ||
      view.r.not_before_tick > view.r.tick) {
    return std::nullopt;
  }
  return view;
}

std::optional<GpuDeviceView> GpuDeviceView::parse(Words record) {
  GpuDeviceView view;
  if (!copy_fixed(record, view.r) || view.number() == 0 || view.vendor() >= Vendor::kCount) {
    return std::nullopt;
  }
  view.name = fixed_text(record, offsetof(GpuDevice, name), sizeof view.r.name);
  return view;
}

std::optional<DeviceMemoryView> DeviceMemoryView::parse(Words record) {
  DeviceMemoryView view;
  if (!copy_fixed(record, view.r) || view.id() < kFirstDeviceMemory ||
      view.r.kind == DeviceMemoryKind::none || view.r.kind >= DeviceMemoryKind::kCount ||
      view.r.begin + view.r.bytes < view.r.begin) {
    return std::nullopt;
  }
  return view;
}

std::optional<DeviceMemoryEndView> DeviceMemoryEndView::parse(Words record) {
  DeviceMemoryEndView view;
  if (!copy_fixed(record, view.r) || view.id() < kFirstDeviceMemory ||
      view.how() == MemoryEnd::none || view.how() >= MemoryEnd::kCount ||
      view.r.alive_tick > view.r.tick) {
    return std::nullopt;
  }
  return view;
}

std::optional<UcxDeviceView> UcxDeviceView::parse(Words record) {
  UcxDeviceView view;
  if (!copy_fixed(record, view.r)) return std::nullopt;
  view.name = fixed_text(record, offsetof(UcxDevice, name), sizeof view.r.name);
  return view;
}

std::optional<FaultView> FaultView::parse(Words record) {
  FaultView view;
  if (!copy_fixed(record, view.r) || view.code() == FaultCode::none ||
      view.code() >= FaultCode::kCount || static_cast<std::size_t>(view.r.layer) >= kLayers ||
      !Tail(record, sizeof(Fault)).take_text(view.r.head.b, view.detail)) {
    return std::nullopt;
  }
  return view;
}

}  // namespace uctrace::log
