#include "tests/tracegen/lane.hpp"

#include <algorithm>
#include <cstring>

namespace uctrace::tracegen {
namespace {

using log::RecordType;

constexpr std::int64_t kPostingNs = 60;  // how long a post takes
constexpr std::uint32_t kInProgress = 1;
constexpr std::uint32_t kNoResource = static_cast<std::uint32_t>(-2);

// Since format 5 a lane says why records were dropped, too.
template <typename Info>
void count_cause(Info& info) {
  if constexpr (requires { info.dropped_by_cause[0] += 1; }) info.dropped_by_cause[0] += 1;
}

}  // namespace

Tally& Tally::operator+=(const Tally& more) {
  events += more.events;
  uct_posted += more.uct_posted;
  uct_arrivals += more.uct_arrivals;
  ucp_operations += more.ucp_operations;
  mpi_calls += more.mpi_calls;
  return *this;
}

Lane::Lane(LogOutput& out, const HostClock& clock, std::uint16_t number, std::uint32_t thread_id)
    : clock_(clock),
      number_(number),
      events_(out, clock, number, log::Stream::events),
      definitions_(out, clock, number, log::Stream::definitions) {
  info_.state = 1;
  info_.tid = thread_id;
}

// Nothing of the lane was recorded or left out yet.
bool Lane::is_fresh() const {
  const auto& left_out = info_.counters.outside_window;
  return followed_ == 0 && std::all_of(std::begin(left_out), std::end(left_out),
                                       [](std::uint64_t count) { return count == 0; });
}

void Lane::follow(std::int64_t at_ns, bool first) {
  log::RecordingSwitch record{};
  record.head.a = static_cast<std::uint16_t>((order_.on ? log::RecordingSwitch::kOn : 0u) |
                                             static_cast<unsigned>(order_.cause) << 8);
  record.head.b = order_.number;
  record.tick = tick(at_ns);
  record.asked_tick = tick(order_.asked_ns);
  if (!first) record.counters = info_.counters;
  define(record, RecordType::recording_switch, {}, at_ns);
  followed_ = order_.number;
  recording_ = order_.on;
}

// As in the recorder: the current event belongs to the previous state, except for a lane's first.
bool Lane::records(RecordType type, std::int64_t at_ns) {
  const bool first = is_fresh();
  const bool follows = followed_ != order_.number;
  if (follows && first) follow(at_ns, true);
  const bool recorded = recording_;
  if (!recorded) ++info_.counters.outside_window[static_cast<std::size_t>(drop_kind_of(type))];
  if (follows && !first) follow(at_ns, false);
  return recorded;
}

bool Lane::publish(std::uint64_t* words, RecordType type, std::size_t count, std::uint16_t a,
                   std::uint32_t b, std::int64_t at_ns) {
  if (!records(type, at_ns)) return false;
  if (dropping_) {
    ++info_.counters.dropped[static_cast<std::size_t>(log::drop_kind_of(type))];
    count_cause(info_);
    return false;
  }
  words[0] = static_cast<std::uint64_t>(type) | static_cast<std::uint64_t>(count) << 8 |
             static_cast<std::uint64_t>(a) << 16 | static_cast<std::uint64_t>(b) << 32;
  events_.add(words, at_ns);
  ++info_.counters.recorded_events;
  ++tally_.events;
  return true;
}

log::Id Lane::uct(const UctPost& post, std::initializer_list<std::uint64_t> header) {
  auto& counters = info_.counters;
  counters.uct_posted_ok += !post.refused;
  counters.uct_inprogress += post.in_progress;
  counters.uct_no_resource += post.refused;
  tally_.uct_posted += !post.refused;
  std::uint64_t words[sizeof(log::UctOperation) / 8 + 4 + log::kMaxHeaderWords + 2];
  log::UctOperation record{};
  record.op = post.op;
  record.am_id = static_cast<std::uint8_t>(post.am_id);
  record.source = log::UctOperation::source_of(post.origin.kind, post.origin.route);
  record.protocol = post.protocol;
  // The shim reads the clock once for what is short, of shared memory and complete.
  const bool one_tick = post.op == log::UctOp::am_short && post.bytes <= 256 &&
                        post.interface <= 3 && !post.in_progress && !post.refused;
  record.marks = static_cast<std::uint8_t>((one_tick ? log::UctOperation::kOneTick : 0) |
                                           (post.has_memory ? log::UctOperation::kMemory : 0));
  record.header_bytes = post.op == log::UctOp::am_short ? 8 : 0;
  record.start_tick = tick(post.at_ns);
  record.duration_ticks = one_tick ? 0 : tick(post.at_ns + kPostingNs) - record.start_tick;
  record.endpoint = post.endpoint;
  record.bytes = post.bytes;
  record.origin = post.origin.id;
  const bool is_receive = post.op == log::UctOp::tag_recv_zcopy;
  counters.uct_tag_receives += is_receive;
  const log::Id own = post.in_progress || post.named ? id(++uct_ids_) : 0;
  std::size_t at = sizeof record / 8;
  const auto take = [&](std::uint8_t flag, std::uint64_t word) {
    if (word == 0) return;
    record.flags |= flag;
    words[at++] = word;
  };
  take(log::UctOperation::kHasId, own);
  take(log::UctOperation::kHasLocal, post.local);
  take(log::UctOperation::kHasRemote, post.remote);
  take(log::UctOperation::kHasParent, post.parent);
  if (post.named && !post.in_progress && !is_receive) record.flags |= log::UctOperation::kNoEnd;
  record.flags |= static_cast<std::uint8_t>(header.size() << log::UctOperation::kHeaderShift);
  for (const std::uint64_t word : header) words[at++] = word;
  if (post.has_memory) {
    std::memcpy(&words[at++], &post.memory, sizeof post.memory);
  }
  std::memcpy(words, &record, sizeof record);
  const std::uint32_t stack = stacks_->of_transfer(*this, post.op, post.at_ns);
  if (stack != 0) words[at++] = stack;
  const std::uint32_t status = post.refused ? kNoResource : post.in_progress ? kInProgress : 0;
  const bool kept =
      publish(words, RecordType::uct_operation, at, post.interface, status, post.at_ns);
  counters.memory_words += kept && post.has_memory;
  counters.stacks_captured += stack != 0;
  return own;
}

void Lane::uct_done(log::Id operation, std::int64_t at_ns, std::int32_t status) {
  ++info_.counters.uct_completed;
  std::uint64_t words[] = {0, tick(at_ns), operation};
  publish(words, RecordType::uct_completion, 3, 0, static_cast<std::uint32_t>(status), at_ns);
}

void Lane::tag_receive_done(log::Id operation, std::int64_t at_ns) {
  ++info_.counters.uct_tag_receives_ended;
  std::uint64_t words[] = {0, tick(at_ns), operation};
  publish(words, RecordType::uct_completion, 3, 0, 0, at_ns);
}

log::Id Lane::arrival(std::uint16_t interface, wire::AmId am_id, std::uint64_t bytes,
                      std::int64_t at_ns, std::int64_t handler_ns,
                      std::initializer_list<std::uint64_t> header, log::ArrivalKind kind) {
  ++info_.counters.uct_arrivals;
  ++tally_.uct_arrivals;
  const bool one_tick = bytes <= 256;
  log::UctArrival record{};
  record.start_tick = tick(at_ns);
  record.id = id(++arrival_ids_);
  record.bytes = static_cast<std::uint32_t>(bytes);
  record.am_id = static_cast<std::uint8_t>(am_id);
  record.header_words = static_cast<std::uint8_t>(header.size());
  record.kind = kind;
  record.marks = one_tick ? log::UctArrival::kOneTick : 0;
  std::uint64_t words[sizeof record / 8 + log::kMaxHeaderWords];
  std::memcpy(words, &record, sizeof record);
  std::copy(header.begin(), header.end(), words + sizeof record / 8);
  const std::uint64_t handler = one_tick ? 0 : tick(at_ns + handler_ns) - record.start_tick;
  publish(words, RecordType::uct_arrival, sizeof record / 8 + header.size(), interface,
          static_cast<std::uint32_t>(handler), at_ns);
  return record.id;
}

void Lane::pending(std::uint16_t interface, std::uint64_t endpoint, std::uint64_t request,
                   log::PendingEvent event, std::int64_t at_ns) {
  (event == log::PendingEvent::added ? info_.counters.uct_pending_added
                                     : info_.counters.uct_pending_left) += 1;
  std::uint64_t words[] = {0, tick(at_ns), endpoint, request};
  publish(words, RecordType::uct_pending, 4, interface, static_cast<std::uint32_t>(event), at_ns);
}

void Lane::count_ucp(log::UcpFunction function) {
  auto& c = info_.counters;
  switch (log::family_of(function)) {
    case log::UcpFamily::tag_send:
      ++c.ucp_sends;
      break;
    case log::UcpFamily::tag_receive:
      ++c.ucp_receives;
      break;
    case log::UcpFamily::put:
      ++c.ucp_puts;
      break;
    case log::UcpFamily::get:
      ++c.ucp_gets;
      break;
    case log::UcpFamily::atomic:
      ++c.ucp_atomics;
      break;
    case log::UcpFamily::flush:
      ++c.ucp_flushes;
      break;
    case log::UcpFamily::am_send:
      ++c.ucp_am_sends;
      break;
    case log::UcpFamily::am_receive:
      ++c.ucp_am_receives;
      break;
    case log::UcpFamily::am_receive_data:
      ++c.ucp_am_data_receives;
      break;
    case log::UcpFamily::stream_send:
      ++c.ucp_stream_sends;
      break;
    case log::UcpFamily::stream_receive:
      ++c.ucp_stream_receives;
      break;
    case log::UcpFamily::none:
      break;
  }
}

void Lane::ucp(log::Id own, const UcpCall& call) {
  ++info_.counters.ucp_operations;
  ++tally_.ucp_operations;
  count_ucp(call.function);
  const bool has_memory = call.memory != log::kMemoryNotAsked;
  log::UcpOperation record{};
  record.id = own;
  record.start_tick = tick(call.begin_ns);
  const bool ends_with_call = (call.flags & log::UcpOperation::kCallEnd) != 0;
  record.duration_ticks = ends_with_call ? 0 : tick(call.end_ns) - record.start_tick;
  record.handle = call.handle;
  record.bytes = call.bytes;
  record.tag = call.first;
  record.tag_mask = call.second;
  record.buffer = call.buffer;
  record.posted_tick = call.third;
  std::uint64_t words[sizeof record / 8 + 2];
  std::memcpy(words, &record, sizeof record);
  std::size_t count = sizeof record / 8;
  if (has_memory) {
    const bool device = call.memory >= log::kFirstDeviceMemory;
    const log::OperationMemory memory{call.memory, device ? log::Belief::cuda : log::Belief::host,
                                      log::OperationMemory::kNoDevice, log::BeliefFrom::detection,
                                      0};
    std::memcpy(&words[count++], &memory, sizeof memory);
    ++info_.counters.memory_queries;
  }
  const std::uint32_t stack = stacks_->of_operation(*this, call.function, call.begin_ns);
  if (stack != 0) words[count++] = stack;
  const unsigned flags = call.flags | (has_memory ? log::UcpOperation::kMemory : 0u);
  const bool kept =
      publish(words, RecordType::ucp_operation, count,
              static_cast<std::uint16_t>(static_cast<unsigned>(call.function) | flags << 8),
              call.in_progress ? kInProgress : 0, call.end_ns);
  info_.counters.memory_words += kept && has_memory;
  info_.counters.stacks_captured += stack != 0;
}

void Lane::sent(log::Id operation, std::int64_t at_ns) {
  ++info_.counters.ucp_completed;
  std::uint64_t words[] = {0, operation, tick(at_ns)};
  publish(words, RecordType::ucp_completion, log::kSendCompletionWords, 0, 0, at_ns);
}

void Lane::received(log::Id operation, std::int64_t at_ns, std::int32_t status, std::uint64_t first,
                    std::uint64_t length, bool in_arrival) {
  ++info_.counters.ucp_completed;
  info_.counters.ucp_messages_taken += status == 0;
  std::uint64_t words[] = {0, operation, tick(at_ns), first, length};
  publish(words, RecordType::ucp_completion, 5,
          in_arrival ? log::UcpCompletion::kArrivalTick : std::uint16_t{0},
          static_cast<std::uint32_t>(status), at_ns);
}

void Lane::stream_received(log::Id operation, std::int64_t at_ns, log::Id arrival,
                           std::uint64_t length) {
  ++info_.counters.ucp_completed;
  std::uint64_t words[] = {0, operation, tick(at_ns), arrival, length};
  publish(words, RecordType::ucp_completion, 5, 0, 0, at_ns);
}

void Lane::mpi(std::uint16_t function, std::int64_t begin_ns, std::int64_t end_ns,
               std::uint64_t scope, const MpiParts& parts, RecordType type) {
  ++info_.counters.mpi_calls;
  ++tally_.mpi_calls;
  std::uint64_t words[12] = {0, tick(begin_ns), tick(end_ns) - tick(begin_ns), scope};
  std::size_t at = 4;
  unsigned which = 0;
  const auto take_peer = [&](std::int32_t peer, std::int32_t tag) {
    words[at++] = static_cast<std::uint32_t>(peer) | std::uint64_t{static_cast<std::uint32_t>(tag)}
                                                         << 32;
  };
  if (parts.has_peer) {
    which |= log::MpiCall::kPeer;
    take_peer(parts.peer, parts.tag);
  }
  if (parts.has_volume) {
    which |= log::MpiCall::kVolume;
    words[at++] = parts.bytes;
    words[at++] = parts.datatype;
  }
  if (parts.has_receive) {
    which |= log::MpiCall::kReceive;
    take_peer(parts.recv_peer, parts.recv_tag);
    words[at++] = parts.recv_bytes;
    words[at++] = parts.recv_datatype;
  }
  if (parts.request != 0) {
    which |= log::MpiCall::kRequest;
    words[at++] = parts.request;
  }
  if (const std::uint64_t caller = stacks_->caller(function); caller != 0) {
    which |= log::MpiCall::kCaller;
    words[at++] = caller;
  }
  if (const std::uint32_t stack = stacks_->of_mpi_call(*this, function, begin_ns); stack != 0) {
    which |= log::MpiCall::kStack;
    words[at++] = stack;
    ++info_.counters.stacks_captured;
  }
  publish(words, type, at,
          static_cast<std::uint16_t>(function | which << log::MpiCall::kFunctionBits), 0, end_ns);
}

void Lane::mpi_requests(std::int64_t call_ns, std::span<const std::uint64_t> handles) {
  for (std::size_t i = 0; i < handles.size(); i += log::MpiRequests::kMost) {
    const std::size_t count = std::min(handles.size() - i, log::MpiRequests::kMost);
    const bool more = i + count < handles.size();
    ++info_.counters.mpi_request_records;
    std::uint64_t words[2 + log::MpiRequests::kMost] = {0, tick(call_ns)};
    std::copy_n(handles.begin() + static_cast<std::ptrdiff_t>(i), count, words + 2);
    publish(words, RecordType::mpi_requests, 2 + count,
            more ? log::MpiRequests::kMore : std::uint16_t{0}, static_cast<std::uint32_t>(count),
            call_ns);
  }
}

void Lane::finish() {
  definitions_.finish();
  events_.finish();
}

}  // namespace uctrace::tracegen
