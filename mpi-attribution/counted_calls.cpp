#include "mpi-attribution/counted_calls.hpp"

#include <cstring>
#include <string_view>

#include "event-log/recorder/address_map.hpp"
#include "mpi-attribution/ask_datatype.hpp"
#include "mpi-attribution/call_record.hpp"
#include "mpi-attribution/collective_side.hpp"
#include "mpi-attribution/counted_comms.hpp"

namespace uctrace::mpi {

namespace detail {
constinit CountedAs counted_as[kMostFunctions]{};
}  // namespace detail

namespace {

using log::CounterKind;

// Persistent sends by their request.
struct PersistentSend {
  std::uint64_t peer, bytes;
};
constexpr std::size_t kMostPersistent = std::size_t{1} << 16;
constinit log::AddressMap<PersistentSend, kMostPersistent> persistent_sends;

const void* key_of(Handle request) { return reinterpret_cast<const void*>(request); }

// Unlike string_view's, these functions cannot throw: nobody here could catch it.
bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::memcmp(text.data() + text.size() - end.size(), end.data(), end.size()) == 0;
}
bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view other : names) {
    if (name == other) return true;
  }
  return false;
}

CountedAs kind_of_function(std::string_view name) {
  if (ends_with(name, "_c")) name.remove_suffix(2);
  if (is_one_of(name, {"MPI_Send", "MPI_Bsend", "MPI_Rsend", "MPI_Ssend", "MPI_Isend", "MPI_Ibsend",
                       "MPI_Irsend", "MPI_Issend", "MPI_Sendrecv", "MPI_Sendrecv_replace",
                       "MPI_Isendrecv", "MPI_Isendrecv_replace"})) {
    return CountedAs::send;
  }
  if (is_one_of(name, {"MPI_Send_init", "MPI_Bsend_init", "MPI_Rsend_init", "MPI_Ssend_init",
                       "MPI_Psend_init"})) {
    return CountedAs::persistent;
  }
  if (is_one_of(name, {"MPI_Start", "MPI_Startall"})) return CountedAs::start;
  if (name == "MPI_Request_free") return CountedAs::free_request;
  if (is_one_of(name, {"MPI_Put", "MPI_Rput", "MPI_Accumulate", "MPI_Raccumulate"})) {
    return CountedAs::put;
  }
  if (is_one_of(name, {"MPI_Get", "MPI_Rget"})) return CountedAs::get;
  if (is_one_of(name, {"MPI_Get_accumulate", "MPI_Rget_accumulate", "MPI_Fetch_and_op",
                       "MPI_Compare_and_swap"})) {
    return CountedAs::fetch;
  }
  return CountedAs::other;
}

UCTRACE_HOT inline std::uint64_t bytes_of(std::int64_t count, Word type) {
  const Handle datatype = library.handle(type);
  if (count <= 0 || datatype == library.datatype_null) return 0;
  const std::int64_t size = element_bytes(datatype);
  return size > 0 ? static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size) : 0;
}

std::uint64_t bytes_of(const UctraceHalf& half, const UctraceCall& call) {
  return bytes_of(count_of(half.count, call), half.datatype);
}

std::uint64_t peer_in(const CountedComm* comm, std::int32_t rank) {
  return comm != nullptr ? comm->peer(rank) : log::kUnknownPeer;
}

// When the call is over, later UCP operations are not its message.
class EndOfSend {
 public:
  EndOfSend() = default;
  EndOfSend(const EndOfSend&) = delete;
  EndOfSend& operator=(const EndOfSend&) = delete;
  ~EndOfSend() { log::programs_send = 0; }
};

// MPI tells no rank for a process of another world; the endpoint that this call's message used
// tells who it is.
std::uint64_t known_peer(std::uint64_t peer) {
  return peer != log::kUnknownPeer ? peer : log::peer_of_programs_send(log::programs_send);
}

UCTRACE_HOT inline std::uint64_t peer_of_message(Word scope, std::int32_t rank) {
  const Handle comm = library.handle(scope);
  if (comm == library.comm_world) return static_cast<std::uint32_t>(rank);
  return peer_in(counted_comm(comm), rank);
}

void count_function(const UctraceCall& call, std::uint64_t bytes) {
  log::count(CounterKind::mpi_function, function_of(call), bytes);
}

// If several are started at once, the peer of a send to another world is not known.
void start(Handle request, bool is_alone) {
  const auto* entry = persistent_sends.find(key_of(request));
  if (entry == nullptr) return;
  const std::uint64_t peer = entry->value.peer;
  log::count(CounterKind::external, is_alone ? known_peer(peer) : peer, entry->value.bytes);
}

void keep_persistent(const UctraceCall& call, const PersistentSend& send) {
  if (auto* entry = persistent_sends.claim(key_of(library.request_at(call.request)))) {
    entry->value = send;
  }
}

// A new request may have the handle of one that ended unseen.
void forget_persistent(Handle request) {
  auto* entry = request != 0 ? persistent_sends.find(key_of(request)) : nullptr;
  if (entry != nullptr) persistent_sends.free(entry);
}

}  // namespace

void note_counted_function(unsigned number, const char* name) {
  if (!log::counts() || number >= detail::kMostFunctions) return;
  detail::counted_as[number] = kind_of_function(name);
  log::name_counter(log::CounterNameKind::mpi_function, number, name);
}

void count_call(const UctraceCall& call) {
  const EndOfSend end;
  count_function(call, 0);
  if (!succeeded(call)) return;
  const CountedAs as = counted_as(function_of(call));
  if (as == CountedAs::start) start(call.request, true);
  if (as == CountedAs::free_request) forget_persistent(call.request);
}

void count_message(const UctraceMessage& message, std::int32_t peer) {
  const UctraceCall& call = message.call;
  const EndOfSend end;
  const CountedAs as = counted_as(function_of(call));
  const bool moves = succeeded(call) && peer >= 0 && as != CountedAs::other;
  if (!moves) {
    count_function(call, 0);
    // A persistent receive must not inherit the entry of a send that had its handle before.
    if (call.stores_request && succeeded(call)) {
      forget_persistent(library.request_at(call.request));
    }
    return;
  }
  const std::uint64_t bytes = bytes_of(message.half, call);
  if (as == CountedAs::send) {
    count_function(call, bytes);
    log::count(CounterKind::external, known_peer(peer_of_message(call.scope, peer)), bytes);
  } else if (as == CountedAs::persistent) {
    count_function(call, 0);
    keep_persistent(call, {peer_of_message(call.scope, peer), bytes});
  } else {
    count_function(call, as == CountedAs::get ? 0 : bytes);
    log::count(as == CountedAs::get ? CounterKind::one_sided_received : CounterKind::one_sided_sent,
               peer_in(counted_window(library.handle(call.scope)), peer), bytes);
  }
}

void count_exchange(const UctraceExchange& exchange, std::int32_t peer) {
  const UctraceCall& call = exchange.call;
  const EndOfSend end;
  const CountedAs as = counted_as(function_of(call));
  const bool moves = succeeded(call) && peer >= 0;
  const std::uint64_t bytes = moves ? bytes_of(exchange.send, call) : 0;
  count_function(call, bytes);
  if (!moves) return;
  if (as == CountedAs::fetch) {
    const std::uint64_t target = peer_in(counted_window(library.handle(call.scope)), peer);
    log::count(CounterKind::one_sided_sent, target, bytes);
    log::count(CounterKind::one_sided_received, target, bytes_of(exchange.receive, call));
  } else {
    log::count(CounterKind::external, known_peer(peer_of_message(call.scope, peer)), bytes);
  }
}

void count_started(const UctraceRequests& requests) {
  const EndOfSend end;
  count_function(requests.call, 0);
  const std::int32_t count = as_int(requests.count);
  if (requests.ending != kUctraceStarted || !succeeded(requests.call)) return;
  for (std::int32_t i = 0; i < count; ++i) {
    start(library.request_at(requests.requests, static_cast<std::size_t>(i)), count == 1);
  }
}

// --- collective calls ----------------------------------------------------------------------------

namespace {

// Counts one call by sender and receiver. As in Open MPI's monitoring, the root counts data to and
// from the root, and each rank of a scan counts data for the ranks after it.
class CountedCollective {
 public:
  CountedCollective(const UctraceCollective& call, const CountedComm& comm)
      : call_(call), comm_(comm), send_(call.send, call), receive_(call.receive, call) {}

  // Returns what was sent, by the root or by all.
  std::uint64_t count() {
    switch (call_.rule) {
      case kUctraceNoVolume:
        return each(CounterKind::all_to_all, 0);
      case kUctraceBcast:
        return is_root() ? each(CounterKind::one_to_all, send_.one()) : 0;
      case kUctraceReduce:
        return is_root() ? each(CounterKind::all_to_one, send_.one()) : 0;
      case kUctraceGather:
        return is_root() ? each(CounterKind::all_to_one, receive_.one()) : 0;
      case kUctraceGatherv:
        return is_root() ? by_peer(CounterKind::all_to_one, receive_) : 0;
      case kUctraceScatter:
        return is_root() ? each(CounterKind::one_to_all, send_.one()) : 0;
      case kUctraceScatterv:
        return is_root() ? by_peer(CounterKind::one_to_all, send_) : 0;
      case kUctraceAllreduce:
        return each(CounterKind::all_to_all, send_.one());
      case kUctraceScan:
      case kUctraceExscan:
        return behind(send_.one());
      case kUctraceReduceScatter:
        return by_peer(CounterKind::all_to_all, reduced());
      case kUctraceReduceScatterBlock:
        return each(CounterKind::all_to_all, reduced().one());
      case kUctraceAllgather:
      case kUctraceAlltoall:
        return each(CounterKind::all_to_all, send_.in_place() ? receive_.one() : send_.one());
      case kUctraceAllgatherv:
        return each(CounterKind::all_to_all,
                    send_.in_place() ? receive_.at(comm_.rank) : send_.one());
      case kUctraceAlltoallv:
      case kUctraceAlltoallw:
        return by_peer(CounterKind::all_to_all, send_.in_place() ? receive_ : send_);
      case kUctraceNeighborAllgather:
      case kUctraceNeighborAllgatherv:
      case kUctraceNeighborAlltoall:
        return to_neighbors([&](std::int32_t) { return send_.one(); });
      case kUctraceNeighborAlltoallv:
      case kUctraceNeighborAlltoallw:
        return to_neighbors([&](std::int32_t neighbor) { return send_.at(neighbor); });
    }
    return 0;
  }

 private:
  bool is_root() const {
    const auto root = static_cast<std::int32_t>(call_.root);
    return root == (comm_.inter ? library.root : comm_.rank);
  }
  // It has the counts of the receiving side and the datatype of the sending side.
  Side reduced() {
    both_ = call_.receive;
    both_.datatype = call_.send.datatype;
    return {both_, call_};
  }

  void peer(std::int32_t rank, std::uint64_t bytes) const {
    log::count(CounterKind::collective, comm_.peer(rank), bytes);
  }
  std::uint64_t whole(CounterKind kind, std::uint64_t bytes) const {
    log::count(kind, comm_.number, bytes);
    return bytes;
  }

  // The same amount for each other rank: a single row, whoever they are.
  std::uint64_t each(CounterKind kind, std::uint64_t bytes) const {
    if (comm_.is_named) {
      log::count(CounterKind::collective_each, comm_.number, bytes);
    } else {
      for (std::int32_t i = 0; i < comm_.size; ++i) {
        if (comm_.is_other(i)) peer(i, bytes);
      }
    }
    return whole(kind, bytes * static_cast<std::uint64_t>(comm_.others()));
  }
  std::uint64_t by_peer(CounterKind kind, const Side& side) const {
    std::uint64_t sum = 0;
    for (std::int32_t i = 0; i < comm_.size; ++i) {
      if (!comm_.is_other(i)) continue;
      const std::uint64_t bytes = side.at(i);
      peer(i, bytes);
      sum += bytes;
    }
    return whole(kind, sum);
  }
  std::uint64_t behind(std::uint64_t bytes) const {
    for (std::int32_t i = comm_.rank + 1; i < comm_.size; ++i) peer(i, bytes);
    return whole(CounterKind::all_to_all,
                 bytes * static_cast<std::uint64_t>(comm_.size - 1 - comm_.rank));
  }
  template <typename BytesOf>
  std::uint64_t to_neighbors(BytesOf bytes_of) const {
    std::uint64_t sum = 0;
    for (std::int32_t i = 0; comm_.neighbor_ranks != nullptr && i < comm_.neighbors; ++i) {
      const std::int32_t rank = comm_.neighbor_ranks[i];
      if (rank < 0 || !comm_.is_other(rank)) continue;
      const std::uint64_t bytes = bytes_of(i);
      peer(rank, bytes);
      sum += bytes;
    }
    return whole(CounterKind::all_to_all, sum);
  }

  const UctraceCollective& call_;
  const CountedComm& comm_;
  Side send_, receive_;
  UctraceSide both_{};
};

}  // namespace

void count_collective(const UctraceCollective& collective) {
  const UctraceCall& call = collective.call;
  const EndOfSend end;
  // A persistent one is made here and started later.
  const bool starts =
      std::string_view(uctrace_mpi_functions[function_of(call)].pmpi_name).find("_init") ==
      std::string_view::npos;
  const CountedComm* comm =
      succeeded(call) && starts ? counted_comm(library.handle(call.scope)) : nullptr;
  count_function(call, comm != nullptr ? CountedCollective(collective, *comm).count() : 0);
}

}  // namespace uctrace::mpi

using namespace uctrace;
using namespace uctrace::mpi;

extern "C" void uctrace_mpi_count_call(unsigned function) {
  describe(function);
  log::count(log::CounterKind::mpi_function, function, 0);
}

extern "C" void uctrace_mpi_count_send(const UctraceSent* sent) {
  describe(sent->function);
  const EndOfSend end;
  const std::int32_t peer = as_int(sent->peer);
  if (as_int(sent->result) != 0 || peer < 0) {  // MPI_PROC_NULL is negative in every library
    log::count(log::CounterKind::mpi_function, sent->function, 0);
    return;
  }
  const std::uint64_t bytes = bytes_of(count_of(sent->count, sent->big_counts), sent->datatype);
  log::count_both(log::CounterKind::mpi_function, sent->function, log::CounterKind::external,
                  known_peer(peer_of_message(sent->comm, peer)), bytes);
}
