// The verb `counters`: reads the counter files of a folder, once or again and again. A process
// that still counts is not disturbed.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <iostream>

#include "cli/chosen_job.hpp"
#include "cli/counter_profiles.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/reports/counter_files.hpp"
#include "log-merger/reports/counter_tables.hpp"

namespace uctrace::cli {
namespace {

bool writes_files(const CountersCommand& command) {
  return !command.prof.empty() || !command.gather.empty() || !command.matrices.empty() ||
         !command.directed.empty();
}

void write_files(const CountersCommand& command, const std::vector<log::CounterSnapshot>& job) {
  const CounterExport files(job);
  if (!command.prof.empty()) files.write_profs(command.prof);
  if (!command.gather.empty()) files.write_gathered(command.gather);
  if (!command.matrices.empty()) files.write_matrices(command.matrices, true);
  if (!command.directed.empty()) files.write_matrices(command.directed, false);
}

void show(const CountersCommand& command, const std::vector<log::CounterSnapshot>& job) {
  if (writes_files(command)) {
    write_files(command, job);
    return;
  }
  CountersOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, command.wide);
  {
    FittedOutput fitted(std::cout, options.width);
    write_counters(fitted, job, options);
  }
  std::cout.flush();
}

// Waits for `seconds`, or until SIGUSR1, which is blocked, arrives.
void wait_for_turn(std::size_t seconds) {
  sigset_t asked;
  sigemptyset(&asked);
  sigaddset(&asked, SIGUSR1);
  const timespec most{static_cast<time_t>(std::max<std::size_t>(seconds, 1)), 0};
  sigtimedwait(&asked, nullptr, &most);
}

void hold_signal() {
  sigset_t asked;
  sigemptyset(&asked);
  sigaddset(&asked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &asked, nullptr);
}

}  // namespace

int run(const CountersCommand& command) {
  end_quietly_on_closed_pipe();
  if (command.every_s) hold_signal();
  for (;;) {
    const std::vector<log::CounterSnapshot> job = read_counter_folder(command.folder, command.job);
    show(command, job);
    if (!command.every_s || !any_counts(job)) {
      warn_of_missing_ranks(job);
      warn_of_unnamed(job);
      return kOk;
    }
    wait_for_turn(*command.every_s);
  }
}

}  // namespace uctrace::cli
