// uctrace-tracegen: writes the logs of a job that never ran, and what it did. README.md.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "tests/tracegen/process_run.hpp"

namespace {

using namespace uctrace::tracegen;
namespace fs = std::filesystem;

class Generator {
 public:
  explicit Generator(const Options& options)
      : shape_(options),
        plan_(make_plan(shape_)),
        full_(options.truth == TruthDetail::full ||
              (options.truth == TruthDetail::automatic && plan_.messages <= options.truth_limit)),
        truth_((fs::path(options.folder) / "truth.json").string(), shape_, plan_.steps) {}

  void run() {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < shape_.options().threads; ++i) {
      threads.emplace_back([this] { work(); });
    }
    work();
    threads.clear();
    if (failure_) std::rethrow_exception(failure_);
    truth_.finish();
  }

 private:
  // Processes are generated in the order of their ranks, so none waits for one that is not started.
  void work() {
    try {
      for (std::int32_t rank; (rank = next_++) < shape_.size();) make(rank);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_ = shape_.size();
      truth_.give_up();
    }
  }

  void make(std::int32_t rank) {
    const Options& options = shape_.options();
    ProcessTruth truth(shape_, rank, full_);
    if (options.is_missing(rank)) {
      truth_.add(rank, fmt::format("{{\"rank\":{},\"missing\":true,\"cubes\":[]}}", rank), {});
      return;
    }
    ProcessLog log(shape_, rank, fs::path(options.folder) / shape_.log_name(rank), truth);
    const std::int64_t end_ns = ProcessRun(log, plan_).run();
    const bool killed = options.fault_of(rank, Fault::Kind::unclosed) != nullptr;
    log.finish(end_ns, killed);
    std::string extra = fmt::format(",\"log_bytes\":{},\"closed\":{}", log.size(), !killed);
    if (const Fault* cut = options.fault_of(rank, Fault::Kind::cut)) {
      extra += fmt::format(",\"missing_bytes\":{}", log.cut(cut->amount));
    }
    if (const auto [from, to] = dropped_steps(shape_, plan_, rank); from != to) {
      extra += fmt::format(",\"dropped_steps\":[{},{}]", from, to);
    }
    if (options.spawned > 0) extra += fmt::format(",\"world_rank\":{}", shape_.world_rank(rank));
    std::string windows;
    for (const auto& [from, to] : recorded_steps(shape_, rank)) {
      windows += fmt::format("{}[{},{}]", windows.empty() ? "" : ",", from, to);
    }
    if (!windows.empty()) extra += fmt::format(",\"recorded_steps\":[{}]", windows);
    if (options.max_log_bytes != 0) {
      extra += fmt::format(",\"overwritten_until_ns\":{}", log.overwritten_until_ns());
    }
    const std::string text = truth.text(log.lane_infos(), log.tally(), extra);
    truth_.add(rank, text, truth.totals());
  }

  Shape shape_;
  Plan plan_;
  bool full_;
  TruthFile truth_;
  std::atomic<std::int32_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

int generate(const Options& options) {
  const fs::path folder(options.folder);
  if (fs::exists(folder) && !fs::is_empty(folder)) {
    std::fprintf(stderr, "uctrace-tracegen: '%s' is not empty; name another folder with -o\n",
                 options.folder.c_str());
    return 2;
  }
  fs::create_directories(folder);
  Generator(options).run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse_options({argv + 1, argv + argc});
    if (options.help) {
      std::fputs(help_text().c_str(), stdout);
      return 0;
    }
    return generate(options);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "uctrace-tracegen: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uctrace-tracegen: %s\n", error.what());
    return 1;
  }
}
