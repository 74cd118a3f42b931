// The path of records from the threads that make them to the log: packed while the process runs,
// read meanwhile, after a kill, with bounded size.
#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/recording_folder.hpp"

namespace uctrace::log::test {
namespace {

// Many times what the chunks of a mapped log hold together.
constexpr std::uint64_t kLongRun = 4'000'000;
// Of each thread while the log is read again and again.
constexpr std::uint64_t kLiveRun = 500'000, kThreads = 3;
constexpr std::uint64_t kBound = 1 << 20, kStep = 5000;

bool is_drained() {
  const char* drain = getenv("UCTRACE_DRAIN");
  return drain != nullptr && std::strcmp(drain, "1") == 0;
}

// Data that processes share.
struct Shared {
  std::atomic<std::uint64_t> recorded;
  std::atomic<bool> enough;
};

Shared& shared() {
  // Never given back: threads may still count there while their process ends.
  static const auto& memory = *new SharedMemory<Shared>;
  return *memory;
}

Shared& fresh_shared() {
  Shared& all = shared();
  all.recorded = 0;
  all.enough = false;
  return all;
}

// Lets the packer, which shares the core with it here, come along.
void record(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    record_one();
    if (i % kStep == 0) usleep(100);
  }
}

void record_at_most(Shared& all, std::uint64_t most) {
  for (std::uint64_t done = 0; done < most && !all.enough; done += kStep) {
    record(kStep);
    all.recorded += kStep;
  }
}

bool record_in_threads(Shared& all) {
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] { record_at_most(all, kLiveRun); });
  }
  return true;
}

// The damage of a log as text; empty if there is none.
std::string text_of(const Damage& damage) {
  std::string text;
  for (const std::string& sentence : damage.sentences()) text += sentence + ' ';
  return text;
}

// Each of the threads may be within a record, which it has counted already.
void check_live(const LogFile& log, std::uint64_t threads) {
  Damage damage = log.damage();
  CHECK(damage.unpublished_records <= threads);
  CHECK(damage.missing_events <= threads);
  damage.unpublished_records = damage.missing_events = 0;
  CHECK(text_of(damage) == "");
  const Totals totals = totals_of(log);
  CHECK(totals.ids.size() == totals.read);  // none twice
}

std::filesystem::path live_path(const Folder& folder) {
  return folder.log_path().string() + kLiveSuffix;
}

// Of another process, which may be dead or stuck.
template <typename Condition>
void wait_until(Condition condition) {
  constexpr auto kPatience = std::chrono::seconds(60);
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < give_up);
    usleep(200);
  }
}

}  // namespace

TEST_CASE("a long run is packed, leaves nothing beside its log, and loses nothing") {
  const Folder folder;
  folder.run([] {
    record(kLongRun);
    return true;
  });
  CHECK_FALSE(std::filesystem::exists(live_path(folder)));
  const LogFile log = folder.log();
  CHECK(text_of(log.damage()) == "");
  const Totals totals = totals_of(log);
  CHECK(totals.read == totals.recorded);
  CHECK(totals.ids.size() == totals.read);
  CHECK(totals.recorded + totals.dropped == kLongRun);
  CHECK(totals.recorded > kLongRun / 2);
  CHECK(log.size_bytes() < totals.recorded * 6);  // of 24 each
}

TEST_CASE("a log is whole whenever it is read while threads record") {
  const Folder folder;
  Shared& all = fresh_shared();
  const pid_t child = folder.start_process([&] { return record_in_threads(all); });
  wait_until([&] { return all.recorded >= 100'000; });
  for (int i = 0; i < 6; ++i) check_live(folder.log(), kThreads);
  all.enough = true;
  CHECK(Folder::wait_for(child) == 0);
  check_live(folder.log(), 0);
  CHECK(totals_of(folder.log()).read == all.recorded - folder.log().dropped_records());
}

TEST_CASE("what was recorded before a process is killed is there") {
  if (is_drained()) return;  // up to half a second is lost then
  for (const std::uint64_t least : {1000, 50'000, 2'000'000}) {
    const Folder folder;
    Shared& all = fresh_shared();
    const pid_t child = folder.start_process([&] {
      record_at_most(all, kLongRun);
      return true;
    });
    wait_until([&] { return all.recorded >= least; });
    kill(child, SIGKILL);
    const int status = Folder::wait_for(child);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    const LogFile log = folder.log();
    CHECK(log.page().closed == 0);
    Damage damage = log.damage();
    damage.unpublished_records = 0;  // the one in which it was killed
    CHECK(damage.missing_events <= 1);
    damage.missing_events = 0;
    CHECK(text_of(damage) == "");
    const Totals totals = totals_of(log);
    CHECK(totals.read + totals.dropped >= all.recorded);
    CHECK(totals.ids.size() == totals.read);
  }
}

TEST_CASE("a drained log that is cut off early has the definitions before the events") {
  if (!has_helper()) return;  // such a log is mapped
  const Folder folder;
  const std::string before = is_drained() ? "1" : "";
  setenv("UCTRACE_DRAIN", "1", 1);
  Shared& all = fresh_shared();
  const pid_t child = folder.start_process([&] {
    for (std::uint64_t i = 0;; ++i) {
      ++all.recorded;  // there is a log
      define_text(TextKind::environment, i, "of the events behind it", 23);
      for (int k = 0; k < 5000; ++k) record_one();  // more than a chunk
      usleep(1000);
    }
    return false;
  });
  setenv("UCTRACE_DRAIN", before.c_str(), 1);
  std::uint64_t events = 0, texts = 0;
  wait_until([&] { return all.recorded != 0; });
  wait_until([&] {  // what was written first
    events = texts = 0;
    const LogFile log = folder.log();
    log.for_each_record(Stream::events, [&](std::uint16_t, const UctCompletionView&) { ++events; });
    log.for_each_record(Stream::definitions, [&](std::uint16_t, const TextView& view) {
      texts += view.text == "of the events behind it";
    });
    return events != 0;
  });
  kill(child, SIGKILL);
  Folder::wait_for(child);
  CHECK(texts > 0);
  CHECK(count_packed_events(folder.log_path()) == totals_of(folder.log()).read);
  // As if it had been killed while it wrote a block.
  for (std::uint64_t size = std::filesystem::file_size(folder.log_path()); size > 200'000;
       size -= size / 5) {
    std::filesystem::resize_file(folder.log_path(), size - 8);
    CHECK(count_packed_events(folder.log_path()) == totals_of(folder.log()).read);
  }
  // As no block can be.
  const std::uint32_t odd_bytes = 0x65;
  std::fstream file(folder.log_path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(kProcessPageBytes + folder.log().page().chunk_bytes +
                                         offsetof(BlockHeader, bytes)));
  file.write(reinterpret_cast<const char*>(&odd_bytes), sizeof odd_bytes);
  file.close();
  CHECK(count_packed_events(folder.log_path()) == 0);
}

namespace {

// Where the machine leaves the helper no time; they are counted.
std::uint64_t lost_definitions(const LogFile& log) {
  const auto kind = static_cast<std::size_t>(DropKind::definition);
  std::uint64_t lost = 0;
  for (const LaneInfo& lane : log.lanes()) lost += lane.counters.dropped[kind];
  return lost;
}

}  // namespace

TEST_CASE("a log of bounded size keeps the newest events and all definitions") {
  constexpr std::uint64_t kRecords = 2'000'000, kTexts = 5000;
  const Folder folder;
  setenv("UCTRACE_MAX_LOG", std::to_string(kBound).c_str(), 1);
  folder.run([] {
    for (std::uint64_t i = 0; i < kTexts; ++i) {
      define_text(TextKind::environment, i, "a text that is long enough to take its time", 43);
      record(kRecords / kTexts);
    }
    return true;
  });
  unsetenv("UCTRACE_MAX_LOG");
  const LogFile log = folder.log();
  CHECK(text_of(log.damage()) == "");
  std::uint64_t texts = 0, oldest = UINT64_MAX, definition_bytes = 0;
  log.for_each_record(Stream::definitions, [&](std::uint16_t, const TextView& view) {
    texts += view.kind() == TextKind::environment && view.text.starts_with("a text");
    definition_bytes += sizeof(Text) + padded(view.text.size());
  });
  const std::uint64_t lost = lost_definitions(log);
  CHECK(texts + lost == kTexts);
  if (!is_drained()) CHECK(lost == 0);
  log.for_each_record(Stream::events, [&](std::uint16_t, const UctCompletionView& view) {
    oldest = std::min(oldest, view.r.operation);
  });
  const Totals totals = totals_of(log);
  CHECK(log.overwritten_events() > kRecords / 2);
  CHECK(totals.read + log.overwritten_events() + totals.dropped - lost == kRecords);
  CHECK(totals.read + totals.dropped > kRecords - oldest);  // all that is newer is there
  CHECK(log.window_start_tick() > 0);
  CHECK(log.size_bytes() - log.page().chunk_bytes <=
        kProcessPageBytes + kBound + definition_bytes + 2 * kMinChunkBytes);
}

TEST_CASE("a log of bounded size is whole whenever it is read") {
  const Folder folder;
  setenv("UCTRACE_MAX_LOG", std::to_string(kBound).c_str(), 1);
  Shared& all = fresh_shared();
  const pid_t child = folder.start_process([&] { return record_in_threads(all); });
  unsetenv("UCTRACE_MAX_LOG");
  wait_until([&] { return all.recorded >= 1'000'000; });
  for (int i = 0; i < 6; ++i) check_live(folder.log(), kThreads);
  all.enough = true;
  CHECK(Folder::wait_for(child) == 0);
  const LogFile log = folder.log();
  check_live(log, 0);
  CHECK(totals_of(log).read + log.overwritten_events() + log.dropped_records() == all.recorded);
}

}  // namespace uctrace::log::test
