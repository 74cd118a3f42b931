#include "log-merger/exports/perfetto_packets.hpp"

#include <algorithm>

namespace uctrace::exports {
namespace {

// Numbers of fields, by the message that has them.
namespace trace {
enum : std::uint32_t { packet = 1 };
}
namespace trace_packet {
enum : std::uint32_t {
  clock_snapshot = 6,
  timestamp = 8,
  trusted_packet_sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  track_descriptor = 60,
};
}
namespace clock_snapshot {
enum : std::uint32_t { clocks = 1, primary_trace_clock = 2 };
}
namespace clock_of_snapshot {
enum : std::uint32_t { clock_id = 1, timestamp = 2 };
}
namespace interned_data {
enum : std::uint32_t {
  event_categories = 1,
  event_names = 2,
  debug_annotation_names = 3,
  debug_annotation_string_values = 29,
};
}
namespace interned_text {
enum : std::uint32_t { iid = 1, text = 2 };
}
namespace track_event {
enum : std::uint32_t {
  category_iids = 3,
  debug_annotations = 4,
  type = 9,
  name_iid = 10,
  track_uuid = 11,
  double_counter_value = 44,
  flow_ids = 47,
};
}
namespace debug_annotation {
enum : std::uint32_t {
  name_iid = 1,
  uint_value = 3,
  int_value = 4,
  dict_entries = 11,
  array_values = 12,
  string_value_iid = 17,
};
}
namespace track_descriptor {
enum : std::uint32_t { uuid = 1, name = 2, process = 3, parent_uuid = 5, counter = 8 };
}
namespace process_descriptor {
enum : std::uint32_t { pid = 1, process_name = 6 };
}
namespace counter_descriptor {
enum : std::uint32_t { unit_name = 6 };
}

enum : std::uint64_t { kRealtime = 1, kBoottime = 6 };        // BuiltinClock
enum : std::uint64_t { kStateCleared = 1, kNeedsState = 2 };  // SequenceFlags
constexpr std::uint64_t kSequence = 1;

std::uint64_t unsigned_time(std::int64_t time_ns) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0));
}

ProtoMessage clock(std::uint64_t id, std::uint64_t time_ns) {
  ProtoMessage clock;
  clock.varint(clock_of_snapshot::clock_id, id);
  clock.varint(clock_of_snapshot::timestamp, time_ns);
  return clock;
}

}  // namespace

PerfettoPackets::PerfettoPackets(Output& out, std::uint64_t epoch_realtime_ns)
    : out_(out),
      categories_(interned_data::event_categories),
      event_names_(interned_data::event_names),
      annotation_names_(interned_data::debug_annotation_names),
      annotation_texts_(interned_data::debug_annotation_string_values) {
  ProtoMessage snapshot, packet;
  snapshot.message(clock_snapshot::clocks, clock(kBoottime, 0));
  snapshot.message(clock_snapshot::clocks, clock(kRealtime, epoch_realtime_ns));
  snapshot.varint(clock_snapshot::primary_trace_clock, kBoottime);
  packet.varint(trace_packet::trusted_packet_sequence_id, kSequence);
  packet.varint(trace_packet::sequence_flags, kStateCleared);
  packet.message(trace_packet::clock_snapshot, snapshot);
  ProtoMessage all;
  all.message(trace::packet, packet);
  out_.text() += all.text();
}

void PerfettoPackets::write_packet(ProtoMessage& packet) {
  packet.varint(trace_packet::trusted_packet_sequence_id, kSequence);
  packet.varint(trace_packet::sequence_flags, kNeedsState);
  ProtoMessage all;
  all.message(trace::packet, packet);
  out_.text() += all.text();
  out_.appended();
}

// --- tracks --------------------------------------------------------------------------------------

Track PerfettoPackets::describe(ProtoMessage& descriptor, Track parent, std::string_view name) {
  const std::uint64_t uuid = ++last_track_;
  descriptor.varint(track_descriptor::uuid, uuid);
  if (parent != Track{}) {
    descriptor.varint(track_descriptor::parent_uuid, static_cast<std::uint64_t>(parent));
  }
  descriptor.bytes(track_descriptor::name, name);
  ProtoMessage packet;
  packet.message(trace_packet::track_descriptor, descriptor);
  write_packet(packet);
  return Track{uuid};
}

Track PerfettoPackets::add_process(std::uint32_t number, std::string_view name) {
  ProtoMessage process, descriptor;
  process.varint(process_descriptor::pid, number);
  process.bytes(process_descriptor::process_name, name);
  descriptor.message(track_descriptor::process, process);
  return describe(descriptor, Track{}, name);
}

Track PerfettoPackets::add_track(Track parent, std::string_view name) {
  ProtoMessage descriptor;
  return describe(descriptor, parent, name);
}

Track PerfettoPackets::add_byte_rate(Track parent, std::string_view name) {
  ProtoMessage counter, descriptor;
  counter.bytes(counter_descriptor::unit_name, "bytes/s");
  descriptor.message(track_descriptor::counter, counter);
  return describe(descriptor, parent, name);
}

// --- events --------------------------------------------------------------------------------------

std::uint64_t PerfettoPackets::Interned::id_of(std::string_view text, ProtoMessage& data) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const std::uint64_t id = ids_.size() + 1;
  ids_.emplace(text, id);
  ProtoMessage entry;
  entry.varint(interned_text::iid, id);
  entry.bytes(interned_text::text, text);
  data.message(list_, entry);
  return id;
}

PerfettoPackets& PerfettoPackets::name(std::string_view name) {
  event_.varint(track_event::name_iid, event_names_.id_of(name, interned_));
  return *this;
}

PerfettoPackets& PerfettoPackets::category(std::string_view category) {
  event_.varint(track_event::category_iids, categories_.id_of(category, interned_));
  return *this;
}

ProtoMessage PerfettoPackets::named(std::string_view what) {
  ProtoMessage annotation;
  annotation.varint(debug_annotation::name_iid, annotation_names_.id_of(what, interned_));
  return annotation;
}

PerfettoPackets& PerfettoPackets::add(const ProtoMessage& annotation) {
  in_list_ ? entry_.message(debug_annotation::dict_entries, annotation)
           : event_.message(track_event::debug_annotations, annotation);
  return *this;
}

PerfettoPackets& PerfettoPackets::with(std::string_view what, std::string_view text) {
  if (text.empty()) return *this;
  ProtoMessage annotation = named(what);
  annotation.varint(debug_annotation::string_value_iid, annotation_texts_.id_of(text, interned_));
  return add(annotation);
}

PerfettoPackets& PerfettoPackets::with_number(std::string_view what, std::int64_t number) {
  ProtoMessage annotation = named(what);
  annotation.varint(debug_annotation::int_value, static_cast<std::uint64_t>(number));
  return add(annotation);
}

PerfettoPackets& PerfettoPackets::with_count(std::string_view what, std::uint64_t count) {
  ProtoMessage annotation = named(what);
  annotation.varint(debug_annotation::uint_value, count);
  return add(annotation);
}

PerfettoPackets& PerfettoPackets::begin_list(std::string_view what) {
  list_ = named(what);
  in_list_ = true;
  return *this;
}

PerfettoPackets& PerfettoPackets::next_entry() {
  if (!entry_.empty()) list_.message(debug_annotation::array_values, entry_);
  entry_.clear();
  return *this;
}

PerfettoPackets& PerfettoPackets::end_list() {
  next_entry();
  in_list_ = false;
  return add(list_);
}

PerfettoPackets& PerfettoPackets::flow(std::uint64_t id) {
  event_.fixed64(track_event::flow_ids, id);
  return *this;
}

void PerfettoPackets::write_event(Type type, Track track, std::int64_t time_ns) {
  event_.varint(track_event::type, static_cast<std::uint64_t>(type));
  event_.varint(track_event::track_uuid, static_cast<std::uint64_t>(track));
  ProtoMessage packet;
  packet.varint(trace_packet::timestamp, unsigned_time(time_ns));
  if (!interned_.empty()) packet.message(trace_packet::interned_data, interned_);
  packet.message(trace_packet::track_event, event_);
  event_.clear();
  interned_.clear();
  write_packet(packet);
}

void PerfettoPackets::slice(Track track, std::int64_t start_ns, std::int64_t end_ns) {
  open_slice(track, start_ns);
  write_event(Type::slice_end, track, std::max(start_ns, end_ns));
}

void PerfettoPackets::open_slice(Track track, std::int64_t start_ns) {
  write_event(Type::slice_begin, track, start_ns);
}

void PerfettoPackets::instant(Track track, std::int64_t time_ns) {
  write_event(Type::instant, track, time_ns);
}

void PerfettoPackets::count(Track track, std::int64_t time_ns, double value) {
  event_.number(track_event::double_counter_value, value);
  write_event(Type::counter, track, time_ns);
}

}  // namespace uctrace::exports
