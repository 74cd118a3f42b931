// The verb `top`: the rates of a job's counters, from two readings or continuously. Counting
// processes are not disturbed.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <sstream>
#include <thread>

#include "cli/chosen_job.hpp"
#include "cli/screen.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/plain_text.hpp"
#include "log-merger/live/live_folder.hpp"
#include "log-merger/live/top_output.hpp"

namespace uctrace::cli {
namespace {

// A shorter interval is a load on the machine, and tells little.
constexpr std::uint64_t kLeastInterval_ns = 100'000'000;

// The entry after `now` in a list, cyclically.
template <typename List, typename Value>
Value next_in(const List& list, Value now) {
  const auto at = std::find(std::begin(list), std::end(list), now);
  return at == std::end(list) || std::next(at) == std::end(list) ? *std::begin(list)
                                                                 : *std::next(at);
}

// How many lines of a terminal it takes at most: terminals wrap long lines.
std::ptrdiff_t lines_of(const std::string& text, std::size_t width) {
  std::ptrdiff_t count = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    count += 1 + static_cast<std::ptrdiff_t>(line.empty() ? 0 : (line.size() - 1) / width);
  }
  return count;
}

class Top {
 public:
  explicit Top(const TopCommand& command)
      : command_(command),
        interval_(command.interval_ns),
        jobs_(command.folder, {.job = command.job, .keeps_before = true}),
        options_(command.options) {
    options_.colour = colour_of_output();
    read();
  }

  bool counts() const { return reading_->counts(); }

  void print_once() {
    if (counts()) {
      std::this_thread::sleep_for(interval_);
      read();
    }
    options_.width = width_of_output(options_.format, command_.wide);
    {
      FittedOutput fitted(std::cout, options_.width);
      live::write_top(fitted, shown(), options_);
    }
    std::cout.flush();
    warn_of_unread(jobs_);
    warn_of_unnamed(reading_->now);
  }

  // Runs until the job or the user ends it; the last picture stays.
  void show() {
    if (options_.by == CountersBy::all) options_.by = CountersBy::pairs;
    {
      Screen screen;
      screen.draw(picture(screen.takes_keys()));
      while ((counts() || pauses_) && wait(screen)) {
        if (!pauses_) read();
        screen.draw(picture(screen.takes_keys()));
      }
    }
    std::cout << picture(false) << std::flush;
  }

 private:
  void read() {
    jobs_.read();
    reading_ = &chosen_job(jobs_, command_.folder, command_.job);
  }

  live::Shown shown() const { return {jobs_, *reading_, plain_text(command_.folder.string())}; }

  // Waits until the next reading. False: it is over.
  bool wait(Screen& screen) {
    const auto end = Screen::Clock::now() + interval_;
    for (;;) {
      const Screen::Happened happened = screen.wait_until(end);
      if (happened.event == Screen::Event::time) return true;
      if (happened.event == Screen::Event::stop) return false;
      if (happened.event == Screen::Event::key && !take_key(happened.key)) return false;
      screen.draw(picture(screen.takes_keys()));
    }
  }

  // False: the key to end.
  bool take_key(char key) {
    if (key == 'q') return false;
    if (key == 'v') options_.by = next_in(live::kTopViews, options_.by);
    if (key == 's') {
      options_.sort = next_in(live::kSorts, options_.sort.value_or(live::SortBy::bytes_per_s));
    }
    if (key == 'p' || key == ' ') pauses_ = !pauses_;
    return true;
  }

  // One table, with as many rows as fit on the terminal, whose size may change at any time.
  std::string picture(bool with_keys) const {
    live::TopOptions fitted = options_;
    fitted.width = width_of_output(fitted.format, command_.wide);
    struct winsize size {};
    const bool is_sized = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
    if (fitted.limit || !is_sized) return picture(fitted, with_keys);
    const std::size_t columns = size.ws_col > 0 ? size.ws_col : fitted.width;
    for (std::ptrdiff_t rows = size.ws_row;;) {
      fitted.limit = static_cast<std::size_t>(rows);
      std::string text = picture(fitted, with_keys);
      // The cursor is below the last line.
      const std::ptrdiff_t too_many = lines_of(text, columns) + 1 - size.ws_row;
      if (too_many <= 0 || rows == 1) return text;
      rows = std::max(rows - too_many, std::ptrdiff_t{1});
    }
  }

  std::string picture(const live::TopOptions& fitted, bool with_keys) const {
    std::ostringstream text;
    FittedOutput lines(text, fitted.width);
    live::write_top(lines, shown(), fitted);
    if (with_keys) {
      lines << fmt::format(
          "{}q quit, v next table, s sort by: {}, p {}\n", pauses_ ? "PAUSED. " : "",
          fitted.sort ? live::name_of(*fitted.sort) : "as it is", pauses_ ? "go on" : "pause");
    }
    return text.str();
  }

  const TopCommand& command_;
  const std::chrono::nanoseconds interval_;
  live::LiveFolder jobs_;
  const live::Reading* reading_ = nullptr;  // of the job that is shown
  live::TopOptions options_;
  bool pauses_ = false;
};

}  // namespace

int run(const TopCommand& command) {
  require_choice(command.folder);
  if (command.interval_ns < kLeastInterval_ns) {
    throw Error(
        {.what = "--interval", .why = "it is less than 100ms", .to_do = "give a time such as 1s"});
  }
  end_quietly_on_closed_pipe();
  const bool goes_on =
      !command.once && command.options.format == Format::table && isatty(STDOUT_FILENO) == 1;
  Top top(command);
  if (goes_on && top.counts()) {
    top.show();
  } else {
    top.print_once();
  }
  return kOk;
}

}  // namespace uctrace::cli
