// Counts the events of logs: by type how many there are and how many bytes their threads stored for
// them, the clock readings that they hold, and the clock that was read.
//
// usage: log_contents FOLDER
//
// A reading is counted once, however many records share it: no two readings of one thread are
// equal.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "event-log/reader/reader.hpp"

namespace {

using namespace uctrace::log;

struct Type {
  std::uint64_t records = 0, bytes = 0;
};

class Contents {
 public:
  void add(const LogFile& log) {
    log.for_each_record(Stream::events,
                        Overloaded{[&](std::uint16_t lane, const UctOperationView& view) {
                                     add("uct_operation", view.r.head);
                                     read(lane, view.r.start_tick);
                                     read(lane, view.r.start_tick + view.r.duration_ticks);
                                   },
                                   [&](std::uint16_t lane, const UctCompletionView& view) {
                                     add("uct_completion", view.r.head);
                                     read(lane, view.r.tick);
                                   },
                                   [&](std::uint16_t lane, const UctArrivalView& view) {
                                     add("uct_arrival", view.r.head);
                                     read(lane, view.r.start_tick);
                                     read(lane, view.r.start_tick + view.duration_ticks());
                                   },
                                   [&](std::uint16_t lane, const UctPendingView& view) {
                                     add("uct_pending", view.r.head);
                                     read(lane, view.r.tick);
                                   },
                                   [&](std::uint16_t lane, const MemoryCallView& view) {
                                     add("memory_call", view.r.head);
                                     read(lane, view.r.start_tick);
                                     read(lane, view.r.start_tick + view.r.duration_ticks);
                                   },
                                   [&](std::uint16_t lane, const UcpOperationView& view) {
                                     add("ucp_operation", view.r.head);
                                     read(lane, view.r.start_tick);
                                     read(lane, view.r.start_tick + view.r.duration_ticks);
                                   },
                                   [&](std::uint16_t lane, const UcpCompletionView& view) {
                                     add("ucp_completion", view.r.head);
                                     read(lane, view.r.tick);
                                   },
                                   [&](std::uint16_t lane, const MpiRequestsView& view) {
                                     add("mpi_requests", view.r.head);
                                     read(lane, view.r.tick);
                                   },
                                   [&](std::uint16_t lane, const MpiCallView& view) {
                                     add("mpi_call", view.r.head);
                                     read(lane, view.r.start_tick);
                                     read(lane, view.r.start_tick + view.r.duration_ticks);
                                   }});
    for (auto& [lane, ticks] : ticks_) {
      std::sort(ticks.begin(), ticks.end());
      readings_ +=
          static_cast<std::uint64_t>(std::unique(ticks.begin(), ticks.end()) - ticks.begin());
    }
    ticks_.clear();  // of one process: lanes of another have the same numbers
    file_bytes_ += log.size_bytes();
    clock_ = log.page().clock;
  }

  void print() const {
    std::printf("{\"file_bytes\":%llu,\"clock\":\"%s\",\"clock_readings\":%llu,\"types\":{",
                static_cast<unsigned long long>(file_bytes_),
                clock_ == Clock::monotonic_raw ? "system" : "cycle counter",
                static_cast<unsigned long long>(readings_));
    const char* comma = "";
    for (const auto& [name, type] : types_) {
      std::printf("%s\"%s\":{\"records\":%llu,\"bytes\":%llu}", comma, name.c_str(),
                  static_cast<unsigned long long>(type.records),
                  static_cast<unsigned long long>(type.bytes));
      comma = ",";
    }
    std::printf("}}\n");
  }

 private:
  void add(const char* name, const Head& head) {
    Type& type = types_[name];
    ++type.records;
    type.bytes += std::uint64_t{head.words} * 8;
  }
  void read(std::uint16_t lane, std::uint64_t tick) { ticks_[lane].push_back(tick); }

  std::map<std::string, Type> types_;
  std::map<std::uint16_t, std::vector<std::uint64_t>> ticks_;
  std::uint64_t readings_ = 0, file_bytes_ = 0;
  Clock clock_{};  // the same in all processes of a host
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: log_contents FOLDER\n");
    return 2;
  }
  Contents contents;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.path().extension() == ".ulog") contents.add(LogFile::open(entry.path()));
  }
  contents.print();
  return 0;
}
