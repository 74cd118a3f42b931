#include "cli/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>

namespace uctrace::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 1s;  // of users: faster work needs no line
constexpr auto kBetween = 100ms;
constexpr const char* kErase = "\r\033[K";

std::string time_left(double seconds) {
  const auto rounded = static_cast<long>(std::ceil(seconds));
  return rounded < 60 ? fmt::format("{} s", rounded)
                      : fmt::format("{}:{:02} min", rounded / 60, rounded % 60);
}

}  // namespace

ProgressLine::ProgressLine() {
  if (isatty(STDERR_FILENO) == 1) {
    progress_.emplace([this](const Progress::Now& now) { show(now); });
  }
}

void ProgressLine::erase() {
  if (shown_) std::cerr << kErase << std::flush;
  shown_ = false;
}

bool ProgressLine::is_time() const {
  const Clock::time_point at = Clock::now();
  return at - begun_ >= kPatience && at - shown_at_ >= kBetween;
}

void ProgressLine::show(const std::string& line) {
  std::cerr << kErase << line << std::flush;
  shown_at_ = Clock::now();
  shown_ = true;
}

void ProgressLine::read(const char* table, std::size_t rows, std::size_t of) {
  if (!progress_ || !is_time()) return;
  constexpr double kMillion = 1e6;
  show(fmt::format("uctrace: reading {}, {:.1f} of {:.1f} million", table,
                   static_cast<double>(rows) / kMillion, static_cast<double>(of) / kMillion));
}

void ProgressLine::wrote(const char* files, std::size_t written, std::size_t of) {
  if (!progress_ || !is_time()) return;
  show(fmt::format("uctrace: writing {}, {} of {}", files, written, of));
}

void ProgressLine::show(const Progress::Now& now) {
  if (!is_time()) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  std::string line = fmt::format("uctrace: merging, {:.0f} %: {}", 100 * now.share, now.stage);
  if (now.events != 0) {
    line += fmt::format(", {:.1f} million events/s",
                        static_cast<double>(now.events) * now.share / seconds / 1e6);
  }
  if (now.share > 0) line += ", " + time_left(seconds / now.share - seconds) + " left";
  show(line);
}

}  // namespace uctrace::cli
