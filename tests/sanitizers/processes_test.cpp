// Processes with many threads, from their first calls to their end, and what they fork meanwhile.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/sanitizers/stand_in.hpp"
#include "tests/sanitizers/traffic.hpp"
#include "tests/unit/recording_folder.hpp"

namespace uctrace::log::test {
namespace {

void call_mpi(unsigned tag) {
  StandInComm own = 0;
  int request = 0;
  MPI_Comm_dup(kStandInWorld, &own);
  MPI_Irecv(nullptr, 8, kStandInChar, 0, static_cast<int>(tag), own, &request);
  MPI_Send(nullptr, 8, kStandInChar, 0, static_cast<int>(tag), own);
  MPI_Wait(&request, nullptr);
  MPI_Comm_free(&own);
}

TEST_CASE("the first calls of a process come on many threads at once") {
  const Folder folder;
  folder.run_unstarted([] {
    stand_in_start();
    in_threads([&](unsigned thread) {
      for (unsigned i = 0; i < kRounds; ++i) call_mpi(thread);
    });
    stand_in_stop();
    return true;
  });
  const Found found(folder.log());
  CHECK(found.counted.mpi_calls == 5 * kThreads * kRounds);
  CHECK(found.calls + found.dropped_of(DropKind::mpi) == 5 * kThreads * kRounds);
}

TEST_CASE("no call looks for modules where no record can be written") {
  if (getuid() != 0) return;  // to become a user who may start no thread
  constexpr unsigned kCalls = 1000;
  constexpr uid_t kStranger = 61234;
  const Folder folder;
  REQUIRE(chmod((folder / "").c_str(), 0777) == 0);
  folder.run_unstarted([] {
    const rlimit no_threads{1, 1};
    if (setresuid(kStranger, kStranger, kStranger) != 0 ||
        setrlimit(RLIMIT_NPROC, &no_threads) != 0) {
      return false;
    }
    for (unsigned i = 0; i < kCalls; ++i) {
      MPI_Send(nullptr, 8, kStandInChar, 0, 0, kStandInWorld);
    }
    return true;
  });
  const Found found(folder.log());
  CHECK(found.counted.mpi_calls == kCalls);
  CHECK(found.dropped_of(DropKind::mpi) == kCalls);
  CHECK(found.dropped_of(DropKind::definition) < kCalls / 10);
}

// ThreadSanitizer cannot start threads in the child of a process that has some.
#if defined(__SANITIZE_THREAD__)
constexpr unsigned kChildrenThatRecord = 0;
#else
constexpr unsigned kChildrenThatRecord = 3;
#endif

TEST_CASE("children are forked, and record for themselves, while other threads record") {
  constexpr unsigned kOthers = 3, kChildren = kOthers + kChildrenThatRecord;
  const Folder folder;
  folder.run([&] {
    stand_in_start();
    std::atomic<bool> done{false};
    {
      Messenger messenger;
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          while (!done) messenger.exchange();
        });
      }
      bool well = true;
      for (unsigned i = 0; i < kChildren; ++i) {
        const pid_t child = fork();
        if (child == 0) {
          // The first ones record nothing; the others use the UCX anew.
          if (i >= kOthers) {
            if (!start()) _exit(1);
            Transport transport;
            uct_ep_put_short(transport.endpoint, "12345678", 8, 0, 0);
          } else if (lane() != nullptr) {
            _exit(2);
          }
          std::exit(0);  // its own log, if it has one, is ended; not its parent's
        }
        int status = -1;
        well = well && waitpid(child, &status, 0) == child && status == 0;
      }
      done = true;
      threads.clear();
      stand_in_stop();
      return well;
    }
  });
  const auto logs = folder.log_paths();
  CHECK(logs.size() == 1 + kChildrenThatRecord);
  std::uint64_t posts_of_children = 0;
  for (const auto& path : logs) {
    const LogFile log = LogFile::open(path);
    const Found found(log);
    CHECK(log.page().closed == 1);
    CHECK(found.uct_records() == found.counted.uct_posted_ok + found.counted.uct_completed);
    CHECK(found.ucp_records() == found.counted.ucp_operations + found.counted.ucp_completed);
    if (found.operations == 0) posts_of_children += found.posts;
  }
  CHECK(posts_of_children == kChildrenThatRecord);
}

TEST_CASE("the process ends while threads record") {
  const Folder folder;
  static std::atomic<unsigned> going{0};
  folder.run([] {
    stand_in_start();
    auto* messenger = new Messenger;  // for ever: its threads go on to the last moment
    for (unsigned i = 0; i < kThreads; ++i) {
      std::thread([messenger] {
        for (;;) {
          messenger->exchange();
          ++going;
        }
      }).detach();
    }
    while (going < 1000) std::this_thread::yield();
    return true;
  });
  const Found found(folder.log());
  CHECK(found.operations + found.dropped_of(DropKind::ucp) >= 3000 - 3 * kThreads);
}

}  // namespace
}  // namespace uctrace::log::test
