#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace uctrace::cli {
namespace {

// Where to break a line: after the last space within `width` columns, 0 if there is none after
// `from`. SIZE_MAX: no break is needed. Colour escape sequences take no column.
std::size_t break_of(std::string_view line, std::size_t from, std::size_t width) {
  std::size_t column = 0, last_space = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033') {
      i = std::min(line.find('m', i), line.size() - 1);
      continue;
    }
    if ((static_cast<unsigned char>(line[i]) & 0xc0) == 0x80) continue;
    if (line[i] == ' ' && i >= from) last_space = i + 1;
    if (++column > width) return last_space;
  }
  return SIZE_MAX;
}

}  // namespace

Colour colour_of_output() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string_view(text != nullptr ? text : "");
  };
  if (!value("NO_COLOR").empty()) return Colour::off;
  if (!value("CLICOLOR_FORCE").empty() && value("CLICOLOR_FORCE") != "0") return Colour::on;
  const bool dumb = value("TERM").empty() || value("TERM") == "dumb";
  return isatty(STDOUT_FILENO) == 1 && !dumb ? Colour::on : Colour::off;
}

std::size_t width_of_output(Format format, bool wide) {
  constexpr std::size_t kUsual = 80, kLeast = 40;
  if (format != Format::table || wide || isatty(STDOUT_FILENO) != 1) return kAnyWidth;
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return std::max<std::size_t>(known ? size.ws_col : kUsual, kLeast);
}

std::streamsize FittedOutput::Lines::xsputn(const char* text, std::streamsize count) {
  if (width_ == kAnyWidth) {
    to_.write(text, count);
    return to_ ? count : 0;
  }
  for (std::streamsize i = 0; i < count; ++i) {
    if (text[i] != '\n') {
      line_ += text[i];
    } else {
      end_line();
    }
  }
  return to_ ? count : 0;
}

FittedOutput::Lines::int_type FittedOutput::Lines::overflow(int_type c) {
  const char one = traits_type::to_char_type(c);
  return xsputn(&one, 1) == 1 ? c : traits_type::eof();
}

void FittedOutput::Lines::end_line() {
  const std::size_t begin = std::min(line_.find_first_not_of(' '), line_.size());
  const bool is_remark = line_.compare(begin, 2, "# ") == 0;
  const std::string indent = line_.substr(0, begin) + (is_remark ? "#   " : "    ");
  std::size_t from = begin + (is_remark ? 2 : 0);
  for (std::size_t at = break_of(line_, from, width_); at != SIZE_MAX && at != 0;
       at = break_of(line_, from, width_)) {
    to_ << line_.substr(0, at - 1) << '\n';
    line_ = indent + line_.substr(at);
    from = indent.size();
  }
  to_ << line_ << '\n';
  line_.clear();
}

void end_quietly_on_closed_pipe() { std::signal(SIGPIPE, SIG_DFL); }

}  // namespace uctrace::cli
