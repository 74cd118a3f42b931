// Packets of a Perfetto trace with track events, as protos/perfetto/trace/ of Perfetto's sources
// declares them (trace_packet.proto, track_event/*.proto, interned_data.proto). All are in one
// sequence, so names are written once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "log-merger/exports/output.hpp"
#include "log-merger/exports/protobuf.hpp"

namespace uctrace::exports {

// A track of the trace.
enum class Track : std::uint64_t {};

class PerfettoPackets {
 public:
  // Times are on the job clock, which the trace calls BOOTTIME; `epoch_realtime_ns` is its origin
  // in nanoseconds since 1970.
  PerfettoPackets(Output& out, std::uint64_t epoch_realtime_ns);

  // `number`: from 1 on, used as the pid in the trace, because pids of several hosts may be equal.
  Track add_process(std::uint32_t number, std::string_view name);
  Track add_track(Track parent, std::string_view name);
  Track add_byte_rate(Track parent, std::string_view name);

  // These describe an event, in any order; one of the functions after them then writes it.
  PerfettoPackets& name(std::string_view name);
  PerfettoPackets& category(std::string_view category);
  PerfettoPackets& with(std::string_view what, std::string_view text);
  PerfettoPackets& with_number(std::string_view what, std::int64_t number);
  PerfettoPackets& with_count(std::string_view what, std::uint64_t count);
  // A list of named arguments: until end_list() they belong to its last entry.
  PerfettoPackets& begin_list(std::string_view what);
  PerfettoPackets& next_entry();
  PerfettoPackets& end_list();
  // Events of the same flow are joined by arrows.
  PerfettoPackets& flow(std::uint64_t id);

  void slice(Track track, std::int64_t start_ns, std::int64_t end_ns);
  // A slice that lasts to the end of the trace.
  void open_slice(Track track, std::int64_t start_ns);
  void instant(Track track, std::int64_t time_ns);

  void count(Track track, std::int64_t time_ns, double value);

 private:
  // The texts of one list of InternedData, by their numbers from 1 on.
  class Interned {
   public:
    Interned(std::uint32_t list) : list_(list) {}
    // A new text is declared in `data`.
    std::uint64_t id_of(std::string_view text, ProtoMessage& data);

   private:
    struct Hash : std::hash<std::string_view> {
      using is_transparent = void;
    };
    const std::uint32_t list_;
    std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> ids_;
  };

  enum class Type : std::uint8_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 };

  Track describe(ProtoMessage& descriptor, Track parent, std::string_view name);
  ProtoMessage named(std::string_view what);
  PerfettoPackets& add(const ProtoMessage& annotation);
  void write_event(Type type, Track track, std::int64_t time_ns);
  void write_packet(ProtoMessage& packet);

  Output& out_;
  std::uint64_t last_track_ = 0;
  Interned categories_, event_names_, annotation_names_, annotation_texts_;
  ProtoMessage event_, interned_;  // of the event being described
  ProtoMessage list_, entry_;      // of its list that has not ended
  bool in_list_ = false;
};

}  // namespace uctrace::exports
