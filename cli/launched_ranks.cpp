#include "cli/launched_ranks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>

#include "cli/installation.hpp"

namespace uctrace::cli {
namespace {

// The variables that a launcher sets for each process, and the library for its MPI.
struct Launcher {
  const char *rank, *size, *mpi, *library;
};
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI", "libuctrace-ranks-ompi.so"},
    {"PMI_RANK", "PMI_SIZE", "MPICH", "libuctrace-ranks-mpich.so"}};

int number_in(const char* variable) {
  const char* const value = std::getenv(variable);
  const std::string_view text = value != nullptr ? value : "";
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool was_told(pid_t process, std::string_view variable) {
  std::ifstream file(fmt::format("/proc/{}/environ", process));
  for (std::string setting; std::getline(file, setting, '\0');) {
    if (setting.starts_with(variable) && setting.substr(variable.size(), 1) == "=") return true;
  }
  return false;
}

// MPI_Init returns only after all ranks call it. If only one rank of a script runs this command,
// the message says what it waits for.
class WaitNotice {
 public:
  explicit WaitNotice(int others)
      : thread_([this, others](const std::stop_token& begun) {
          std::unique_lock lock(mutex_);
          if (wake_.wait_for(lock, begun, std::chrono::seconds(20), [&] { return false; }) ||
              begun.stop_requested()) {
            return;
          }
          std::cerr << fmt::format(
              "uctrace: waiting for the launcher's other {} to run `uctrace merge`, too\n",
              others == 1 ? "process" : fmt::format("{} processes", others));
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace

LaunchedRanks::LaunchedRanks() {
  for (const Launcher& launcher : kLaunchers) {
    if (number_in(launcher.size) < 2) continue;
    // A process started by a rank, for example by a script, is not a rank.
    if (was_told(getppid(), launcher.rank)) return;
    open(launcher.mpi, launcher.library, number_in(launcher.size) - 1);
    is_idle_ = !why_alone_.empty() && number_in(launcher.rank) != 0;
    return;
  }
}

LaunchedRanks::~LaunchedRanks() { ranks_.end(); }

void LaunchedRanks::open(const char* mpi, const char* library, int others) {
  const auto path = find_preload_library().parent_path() / library;
  // MPI's plug-ins look up its symbols in the global scope.
  void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) {
    why_alone_ = fmt::format("this uctrace has no library for {}: {}", mpi, dlerror());
    return;
  }
  const auto begin =
      reinterpret_cast<uctrace_ranks_begin_function>(dlsym(opened, UCTRACE_RANKS_BEGIN));
  const WaitNotice notice(others);
  const uctrace_ranks* const plugin = begin != nullptr ? begin() : nullptr;
  if (plugin == nullptr || plugin->version != UCTRACE_RANKS_VERSION) {
    why_alone_ = fmt::format("{} cannot be used by {}", mpi, path.string());
    return;
  }
  ranks_ = Ranks(plugin);
  if (ranks_.size() == static_cast<std::size_t>(others) + 1) return;
  // Each would be rank 0 of its own world.
  ranks_.end();
  ranks_ = Ranks();
  why_alone_ =
      fmt::format("{} of {} does not know the processes of this launcher", mpi, path.string());
}

}  // namespace uctrace::cli
