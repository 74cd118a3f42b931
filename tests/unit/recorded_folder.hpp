// Runs a part of a test in a process that records, and reads back what it left.
#pragma once

#include <doctest/doctest.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "event-log/reader.hpp"
#include "event-log/recorder.hpp"

namespace uctrace::log::test {

namespace fs = std::filesystem;

// A folder of its own, for the logs of processes that a test starts.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/uctrace-recorder-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path operator/(const char* name) const { return path_ / name; }

  std::vector<fs::path> logs() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().extension() == ".ulog") found.push_back(entry.path());
    }
    return found;
  }

  // The only log in the folder.
  LogFile log() const {
    const auto found = logs();
    REQUIRE(found.size() == 1);
    return LogFile::open(found.front());
  }

  // Runs `program` in a process that may record into this folder; false in `program` = it failed.
  template <typename Program>
  void run_unstarted(Program program) const {
    fflush(nullptr);  // or the child prints it too
    const pid_t child = fork();
    if (child == 0) {
      setenv("UCTRACE_DIR", path_.c_str(), 1);
      exit(program() ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }

  // The same in a process that records from the beginning.
  template <typename Program>
  void run(Program program) const {
    run_unstarted([&] { return start() && program(); });
  }

 private:
  fs::path path_;
};

}  // namespace uctrace::log::test
