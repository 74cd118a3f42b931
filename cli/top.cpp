// The verb `top`: how fast a job counts, read twice or again and again. A process that counts is not
// disturbed.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>
#include <thread>

#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/plain_text.hpp"
#include "log-merger/live/live_job.hpp"
#include "log-merger/live/newest_job.hpp"

namespace uctrace::cli {
namespace {

// Less is a load on the machine, and says little.
constexpr std::uint64_t kLeastInterval_ns = 100'000'000;
// Lines of a terminal that are no rows: summary, title, names of columns, how many rows are left out.
constexpr int kLinesAround = 9;
constexpr const char* kHomeAndErase = "\033[H\033[2J";

void read(live::LiveJob& job, const std::filesystem::path& folder) {
  job.read();
  if (!job.reading().now.empty()) return;
  for (const std::string& line : job.reading().unread) {
    std::cerr << "uctrace: warning: " << line << '\n';
  }
  live::refuse_without_counters(folder);
}

// A terminal shows one table, and as many rows as it has room for. Its size may change at any time.
live::TopOptions fitted(live::TopOptions options) {
  if (options.by == CountersBy::all) options.by = CountersBy::pairs;
  struct winsize size {};
  if (!options.limit && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) {
    options.limit = static_cast<std::size_t>(std::max(size.ws_row - kLinesAround, 1));
  }
  options.width = width_of_output(options.format, false);
  return options;
}

}  // namespace

int run(const TopCommand& command) {
  require_choice(command.folder);
  if (command.interval_ns < kLeastInterval_ns) {
    throw Error({.what = "--interval",
                 .why = "it is less than 100ms",
                 .to_do = "give a time such as 1s"});
  }
  end_quietly_on_closed_pipe();
  live::TopOptions options = command.options;
  options.colour = colour_of_output();
  options.width = width_of_output(options.format, false);
  const bool goes_on =
      !command.once && options.format == Format::table && isatty(STDOUT_FILENO) == 1;
  live::LiveJob job(command.folder);
  read(job, command.folder);
  do {
    if (job.reading().counts()) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(command.interval_ns));
      read(job, command.folder);
    }
    std::ostringstream text;
    live::write_top(text, job.reading(), plain_text(command.folder.string()),
                    goes_on ? fitted(options) : options);
    // In one piece, so that nothing flickers; nothing of the terminal has to be put back at the end.
    std::cout << (goes_on ? kHomeAndErase : "") << text.str() << std::flush;
    if (!goes_on) {
      for (const std::string& line : job.reading().unread) {
        std::cerr << "uctrace: warning: " << line << '\n';
      }
    }
  } while (goes_on && job.reading().counts());
  return kOk;
}

}  // namespace uctrace::cli
