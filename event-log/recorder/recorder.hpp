// The writing side of an event log, linked into the preload library.
//
// Laws (docs/internals.md): code that runs per record never allocates, locks, makes a system call,
// formats or throws. A helper thread keeps the next chunks and slots ready; on a miss the record is
// dropped and counted, with its cause. The first record of a thread may wait for the helper, for a
// bounded time. Everything is safe on any thread and, except for the slots, in a signal handler.
// Before start(), and in a fork child without its own log, it does nothing.
//
// Use:   if (Lane* lane = log::lane()) {
//          if (auto* r = lane->reserve<UctCompletion>(DropKind::uct)) { fill; publish(r, head); }
//        }
// Cost: lane() 1 ns, reserve + publish 2 ns plus the stores.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "event-log/format/counter_file.hpp"
#include "event-log/format/definitions.hpp"
#include "event-log/format/events.hpp"
#include "event-log/recorder/own.hpp"
#include "event-log/recorder/recording.hpp"
#include "event-log/recorder/ticks.hpp"

// The path of every operation is inlined into its hook or wrapper, where much of it is constant.
#define UCTRACE_HOT [[gnu::always_inline]]

namespace uctrace::log {

// Where the next record of one stream goes. `position` may run past `end`: that is an overflow.
struct Cursor {
  std::uint64_t position;
  std::uint64_t end;
};

// A 64-byte cell that outlives the call that took it: a completion or a pending request. Slots come
// from process-lifetime slabs; any thread may return them.
struct alignas(64) Slot {
  Slot* next;
  unsigned char payload[56];
};
static_assert(sizeof(Slot) == 64);

// Free slots of a lane. A signal handler that finds the list `busy` takes the lane's other one.
struct SlotList {
  Slot* first;
  std::uint32_t count;  // returned since the list was last filled
  bool busy;
};

// A clock reading that the directly following event may reuse instead of reading again: if nothing
// was recorded since, the thread has done next to nothing. docs/internals.md has the rules.
struct SharedTick {
  enum class Of : std::uint8_t {
    nothing,
    blocking_call,     // an MPI call that posts one operation and may wait for it
    nonblocking_call,  // an MPI call that returns once it is posted
    arrival,           // of a short message whose handler runs
  };
  std::uint64_t tick;
  std::uint64_t position;  // of the events' cursor at `tick`
  Of of;
};

// Where a thread counts (counters.hpp). `rows` is changed before `capacity`, which only grows: a
// signal handler in between stays within bounds.
struct CountedRows {
  CounterRow* rows;
  std::uint32_t capacity;
  std::uint32_t used;
  CounterRow* next;      // a larger table that the helper made, nullptr = none yet
  std::uint32_t wanted;  // capacity requested; 0 = none
  std::uint32_t next_capacity;
};

// Where the search for a key begins.
inline std::size_t counter_home(CounterKey key, std::uint32_t capacity) {
  const std::uint64_t mixed = (key * 0x9E3779B97F4A7C15u) >> 32;
  return mixed * capacity >> 32;
}

// The recording state of one thread. Threads borrow lanes; a dead thread's lane is lent again. Two
// cache lines apart, because processors fetch lines in pairs.
struct alignas(128) Lane {
  Cursor cursors[2];  // by Stream - 1
  LaneInfo* info;     // in the mapped log
  SharedTick shared_tick;
  std::uint64_t next_id[3];  // by IdKind; the lane is in the upper 16 bits
  ChunkHeader* current_chunk[2];
  ChunkHeader* previous_chunk[2];  // retired one switch late, because a signal may have interrupted
                                   // a write
  SlotList slots[2];
  std::uint32_t sequence[2];
  std::uint16_t index;
  bool switching;
  // Bits: 1 and 2, it got or waited for the first chunk of the stream; 4, it has its own first
  // slots.
  std::uint8_t waited;
  // The recording state that this lane follows, 0 while recording is off; and the newest that it
  // has seen, 0 = none yet.
  std::uint64_t recording;
  std::uint64_t recording_seen;
  CountedRows counted;

  LiveCounters& counters() { return reinterpret_cast<LiveCounters&>(info->counters); }

  // Whether events of this lane are not recorded now. Before its first event this is not known:
  // false.
  bool leaves_out() const { return recording == 0 && recording_seen != 0; }

  // Recording was off at its last event and has not been switched since: there is nothing to
  // follow.
  bool stays_off(std::uint64_t state) const {
    return (state & kRecordingOn) == 0 && recording_seen == state;
  }

  // Counts an event that is not recorded. Such events do not move the position that ends a shared
  // tick: so it is ended here.
  void leave_out(DropKind kind) {
    end_shared_tick();
    ++counters().outside_window[static_cast<std::size_t>(kind)];
  }

  // Takes the first chunk of a new lane. Call it before the thread enters UCX: waiting for a chunk
  // while holding a worker's lock makes all other threads spin, and the helper gets no core.
  void take_first_chunk();

  // An event that began at `tick` is the newest of this thread.
  void begin_shared_tick(SharedTick::Of of, std::uint64_t tick) {
    shared_tick.tick = tick;
    shared_tick.position = cursors[0].position;
    shared_tick.of = of;
  }
  // An event that reads the clock ends the sharing, even before it makes a record.
  void end_shared_tick() { shared_tick.of = SharedTick::Of::nothing; }
  // The kind of event, if the tick may still be shared. A signal handler may interrupt: so it is
  // read once, then used.
  SharedTick::Of shared_tick_now(std::uint64_t& tick) const {
    tick = shared_tick.tick;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return cursors[0].position == shared_tick.position ? shared_tick.of : SharedTick::Of::nothing;
  }

  // `bytes` (a multiple of 8) in `stream`, zero-filled and 8-byte aligned; nullptr = dropped or
  // not to be recorded (recording.hpp), counted.
  void* reserve_bytes(Stream stream, DropKind kind, std::size_t bytes) {
    const std::uint64_t state = recording_state();
    if (stream == Stream::events && recording != state) [[unlikely]] {
      if (stays_off(state)) {
        leave_out(kind);
        return nullptr;
      }
      if (!follow_recording(kind)) {
        return nullptr;
      }
    }
    return take_bytes(stream, kind, bytes);
  }

  // The same for records that are needed in any case.
  void* take_bytes(Stream stream, DropKind kind, std::size_t bytes) {
    Cursor& cursor = cursors[static_cast<std::size_t>(stream) - 1];
    LiveCounters& counters = this->counters();  // advance() keeps nothing in registers
    const std::uint64_t at = advance(cursor.position, bytes);
    // A signal handler may have switched to another chunk since: then its end is before `at`, or
    // farther away than a chunk's size.
    constexpr std::uint64_t kRoom = kMinChunkBytes - sizeof(ChunkHeader);
    const std::uint64_t left = cursor.end - at;
    if (left <= kRoom && bytes <= left) [[likely]] {
      counters.recorded_events += stream == Stream::events;
      return reinterpret_cast<void*>(at);
    }
    return reserve_in_new_chunk(stream, kind, bytes, at);
  }

  template <typename Record>
  Record* reserve(DropKind kind, std::size_t extra_bytes = 0) {
    static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) % 8 == 0);
    return static_cast<Record*>(reserve_bytes(Stream::events, kind, sizeof(Record) + extra_bytes));
  }
  // Handles are resolved by tick, so no later event may have an earlier tick than this.
  template <typename Record>
  Record* define(std::size_t extra_bytes = 0, DropKind kind = DropKind::definition) {
    end_shared_tick();
    return static_cast<Record*>(
        reserve_bytes(Stream::definitions, kind, sizeof(Record) + extra_bytes));
  }

 private:
  void* reserve_in_new_chunk(Stream stream, DropKind kind, std::size_t bytes, std::uint64_t at);
  ChunkHeader* next_chunk(Stream stream);
  void go_on_in(ChunkHeader* chunk, Stream stream);
  void drop(DropKind kind, DropCause cause);
  bool follow_recording(DropKind kind);
};

enum class IdKind : std::uint8_t { uct_operation = 0, ucp_operation = 1, arrival = 2 };

// Makes a reserved record readable. `words` is the reserved size; the structs explain `a` and `b`.
inline void publish(void* record, RecordType type, std::size_t words, std::uint16_t a,
                    std::uint32_t b) {
  const std::uint64_t head =
      static_cast<std::uint64_t>(type) | static_cast<std::uint64_t>(words & 0xff) << 8 |
      static_cast<std::uint64_t>(a) << 16 | static_cast<std::uint64_t>(b) << 32;
  __atomic_store_n(static_cast<std::uint64_t*>(record), head, __ATOMIC_RELEASE);
}

inline constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

// Opens this process's log at the first UCX or MPI use; later calls cost a load. Called from slow
// paths only (creation of interfaces, workers; resolution of MPI). False: recording is off.
bool start();

namespace detail {
// In a page that the kernel clears in a fork child: a child sees generation 0 and records nothing
// until it has started its own log.
struct Armed {
  std::uint32_t generation;
};
UCTRACE_OWN extern constinit std::atomic<Armed*> armed __asm__("uctrace_armed");
inline std::uint32_t generation() {
  return __atomic_load_n(&armed.load(std::memory_order_relaxed)->generation, __ATOMIC_ACQUIRE);
}
struct ThreadLane {
  Lane* lane;
  std::uint32_t generation;
  // For a thread that got no lane: in which log, and how many lanes there were then.
  std::uint32_t asked_in, lanes_then;
};
extern thread_local constinit ThreadLane thread_lane __asm__("uctrace_thread_lane")
    __attribute__((tls_model("initial-exec")));
Lane* attach();
}  // namespace detail

// Distinguishes this process's log from its parent's.
inline std::uint32_t log_number() { return detail::generation(); }

// False: this process's log has only counters, no records (pool.hpp).
bool keeps_records();

// Counts an event of a thread that got no lane although recording is on (more than kMaxLanes
// threads).
void count_without_lane(DropKind kind);

// This thread's lane; nullptr while recording is off, or if no lane is left. The generation of a
// thread without a lane is 0, like that of a process that does not record, or the process's own if
// there will be no more lanes. While there may be more, the thread asks again each time.
inline Lane* lane() {
  const detail::ThreadLane& mine = detail::thread_lane;
  if (mine.generation == detail::generation()) [[likely]] {
    return mine.lane;
  }
  return detail::attach();
}

// This thread's lane if an event that begins now is left out and changes nothing; else nullptr. An
// event that finds out about a switch takes its usual way, and the lane follows.
UCTRACE_HOT inline Lane* lane_that_stays_off() {
  Lane* const mine = lane();
  return mine != nullptr && mine->stays_off(recording_state()) ? mine : nullptr;
}

inline Id new_id(Lane& lane, IdKind kind) {
  return advance(lane.next_id[static_cast<std::size_t>(kind)], 1) + 1;
}

// A slot for something asynchronous; nullptr if none is ready (the caller then goes on untracked
// and counts that). release_slot() may be called on any thread, with its lane if it has one.
Slot* acquire_slot(Lane& lane);
void release_slot(Slot* slot, Lane* lane);
inline void release_slot(Slot* slot) { release_slot(slot, lane()); }

template <typename Payload>
Payload* payload_of(Slot* slot) {
  static_assert(sizeof(Payload) <= sizeof(Slot::payload) && std::is_trivial_v<Payload>);
  return reinterpret_cast<Payload*>(slot->payload);
}
template <typename Payload>
Slot* slot_of(Payload* payload) {
  return reinterpret_cast<Slot*>(reinterpret_cast<unsigned char*>(payload) -
                                 offsetof(Slot, payload));
}

// Facts about the process. All are slow-path calls; texts are copied (cut to a record's size).
void define_text(TextKind kind, std::uint64_t id, const char* text, std::size_t length);
void define_text_of(std::uint64_t tick, TextKind kind, std::uint64_t id, const char* text,
                    std::size_t length);  // as read at `tick`
void fault(Layer layer, FaultCode code, std::int32_t value, const char* detail);
void set_layer(Layer layer, LayerState state);
LayerState layer_state(Layer layer);
void set_world(std::int32_t rank, std::int32_t size, ThreadLevel level);
void set_exit(ExitKind kind);
void see_gpu_driver();
void set_stacks(StackMode mode, Unwinder unwinder);

// "DIR/HOST-BOOT" and the addition: the name of a file beside the log that all processes of this
// node share. False: it is too long, or there is no folder. Reads the environment.
bool name_of_node(char* out, std::size_t size, const char* added);

// Has the helper start a thread for the task soon, with all signals blocked. One task at a time: a
// later one replaces one that still waits. A store, on any thread.
void run_beside(void* (*task)(void*));

}  // namespace uctrace::log
