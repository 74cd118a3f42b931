#include "event-log/reader/reader.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "event-log/reader/fixed_text.hpp"
#include "event-log/reader/log_head.hpp"

namespace uctrace::log {

// --- damage --------------------------------------------------------------------------------------

namespace {

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

}  // namespace

std::vector<std::string> Damage::sentences() const {
  std::vector<std::string> result;
  const auto add = [&](std::uint64_t count, const char* one, const char* many, const char* rest) {
    if (count != 0) result.push_back(counted(count, one, many) + ' ' + rest);
  };
  add(truncated_bytes, "byte is", "bytes are", "missing at the end of the file.");
  add(bad_chunks, "place holds", "places hold", "no valid chunk where one should begin.");
  add(skipped_bytes, "byte was", "bytes were", "passed over in search of the next valid chunk.");
  add(resyncs, "valid chunk was", "valid chunks were", "found again behind a damaged place.");
  add(bad_records, "record is", "records are", "not valid and left out.");
  add(unreadable_tails, "chunk was", "chunks were", "given up behind a record of impossible size.");
  add(missing_chunks, "chunk is", "chunks are", "missing in the sequence of its recording thread.");
  add(unpublished_records, "record was", "records were",
      "begun but not finished when the process stopped or the file was read.");
  add(missing_events, "event was", "events were", "counted by the process but not found.");
  add(surplus_events, "event was", "events were", "found but not counted by the process.");
  return result;
}

// --- opening a file ------------------------------------------------------------------------------

LogFile::LogFile(FileWords file, FileWords live, std::string name, WriterState state)
    : name_(std::move(name)), file_(std::move(file)), live_(std::move(live)), state_(state) {
  read_page();
  find_chunks(file_, blocks_begin());
  find_chunks(live_, 0);
  note_cut_files();
  check_blocks();
  order_chunks();
  join_chunks();
  check_records();
}

// --- process page --------------------------------------------------------------------------------

void LogFile::read_page() {
  file_.copy(&page_, sizeof page_, 0);
  check_page(page_, file_.bytes(), name_);
  read_lanes();
  anchors_.assign(page_.anchors, page_.anchors + page_.anchor_count);
}

// A table that is missing, or not where the page says, is damage: its lanes count as zero.
void LogFile::read_lanes() {
  lanes_.resize(page_.lanes_used);
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const bool begins_table = lane >= kPageLanes && (lane - kPageLanes) % kTableLanes == 0;
    const std::uint64_t at = place_of_lane(page_, lane);
    LaneInfo found{};
    const bool there = at != 0 && file_.copy(&found, sizeof found, at) == sizeof found;
    if (there) lanes_[lane] = found;
    if (!there && begins_table) ++damage_.bad_chunks;
  }
}

// After the page, and after chunks that follow it if these were read separately.
std::size_t LogFile::blocks_begin() const {
  return kProcessPageBytes + std::min<std::size_t>(page_.chunk_bytes, live_.bytes());
}

// --- whole file ----------------------------------------------------------------------------------

namespace {

std::uint64_t sum_of(std::span<const std::uint64_t> counts) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum += count;
  return sum;
}

}  // namespace

void LogFile::check_records() {
  std::vector<std::uint64_t> events_read(lanes_.size());
  for (const Chunk& chunk : chunks_) {
    if (chunk.lane >= events_read.size()) events_read.resize(chunk.lane + 1u);
    const Counted counted = chunk.block != nullptr ? chunk.counted : count(chunk, chunk.records);
    damage_.bad_records += counted.bad;
    if (chunk.stream == Stream::events) events_read[chunk.lane] += counted.good;
    for (std::size_t type = 0; type < kEventTypes; ++type) {
      events_of_type_[type] += counted.events[type];
    }
    if (counted.end == End::unpublished) ++damage_.unpublished_records;
    if (counted.end == End::impossible_size) ++damage_.unreadable_tails;
  }
  check_lane_counters(events_read);
}

LogFile::Counted LogFile::count(const Chunk& chunk, Words records) {
  Counted counted;
  auto accept_all = [](std::uint16_t, const auto&) {};
  RecordWalk walk(records);
  for (Words record = walk.next(); !record.empty(); record = walk.next()) {
    if (visit(chunk, record, accept_all)) {
      ++counted.good;
      if (const std::size_t type = record[0] & 0xff; type < kEventTypes) ++counted.events[type];
    } else {
      ++counted.bad;
    }
  }
  counted.end = walk.end();
  return counted;
}

void LogFile::check_lane_counters(const std::vector<std::uint64_t>& events_read) {
  for (std::size_t lane = 0; lane < events_read.size(); ++lane) {
    const std::uint64_t read = events_read[lane];
    event_count_ += read;
    const LaneCounters none{};
    const LaneCounters& counters = lane < lanes_.size() ? lanes_[lane].counters : none;
    const std::uint64_t gone = sum_of(counters.overwritten);
    const std::uint64_t recorded =
        counters.recorded_events > gone ? counters.recorded_events - gone : 0;
    if (recorded > read) damage_.missing_events += recorded - read;
    // The page is read before the chunks: a living writer is ahead of it.
    if (read > recorded && page_.closed == 1) damage_.surplus_events += read - recorded;
  }
}

std::uint64_t LogFile::dropped_records() const {
  std::uint64_t sum = sum_of(page_.dropped_without_lane);
  for (const LaneInfo& lane : lanes_) sum += sum_of(lane.counters.dropped);
  return sum;
}

std::array<std::uint64_t, kDropCauses> LogFile::dropped_by_cause() const {
  std::array<std::uint64_t, kDropCauses> sums{};
  for (std::size_t cause = 0; cause < kDropCauses; ++cause) {
    sums[cause] = page_.dropped_without_lane_by_cause[cause];
    for (const LaneInfo& lane : lanes_) sums[cause] += lane.dropped_by_cause[cause];
  }
  return sums;
}

std::uint64_t LogFile::overwritten_events() const {
  std::uint64_t sum = 0;
  for (const LaneInfo& lane : lanes_) sum += sum_of(lane.counters.overwritten);
  return sum;
}

std::uint64_t LogFile::window_start_tick() const {
  std::uint64_t tick = 0;
  for (const LaneInfo& lane : lanes_) tick = std::max(tick, lane.counters.overwritten_until_tick);
  return tick;
}

// --- identity ------------------------------------------------------------------------------------

std::string_view LogFile::host() const { return text_in(page_.host); }
std::string_view LogFile::boot_id() const { return text_in(page_.boot_id); }
std::string_view LogFile::job() const { return text_in(page_.job); }
std::string_view LogFile::tool_version() const { return text_in(page_.tool_version); }

bool LogFile::same_bytes(const LogFile& other) const {
  return file_.same(other.file_) && live_.same(other.live_);
}

std::string LogFile::monotonic_clock() const {
  return std::string(boot_id()) + ':' + std::to_string(page_.time_namespace);
}

std::uint64_t LogFile::clock_name() const {
  return log::clock_name(boot_id(), page_.time_namespace);
}

std::string LogFile::process_key() const {
  return log::process_key({.host = std::string(host()),
                           .boot_id = std::string(boot_id()),
                           .pid_namespace = page_.pid_namespace,
                           .time_namespace = page_.time_namespace,
                           .pid = page_.pid,
                           .start_time = page_.start_time},
                          page_.image);
}

}  // namespace uctrace::log
