// The kind of standard output, and the tool's behaviour on it.
#pragma once

#include <cstddef>
#include <ostream>
#include <streambuf>
#include <string>

#include "log-merger/reports/table.hpp"

namespace uctrace::cli {

// On for a terminal, or if CLICOLOR_FORCE is set; NO_COLOR overrides both.
Colour colour_of_output();

// How many columns a text may take: those of the terminal. kAnyWidth for other formats, if standard
// output is not a terminal, and with `wide`.
std::size_t width_of_output(Format format, bool wide);

// Passes lines on, and breaks lines longer than `width` at spaces; continuation lines are indented.
// A line without a space there stays as it is. The destructor writes the last line.
class FittedOutput : public std::ostream {
 public:
  FittedOutput(std::ostream& to, std::size_t width) : std::ostream(nullptr), lines_(to, width) {
    rdbuf(&lines_);
  }

 private:
  class Lines : public std::streambuf {
   public:
    Lines(std::ostream& to, std::size_t width) : to_(to), width_(width) {}
    ~Lines() override { to_ << line_; }

   protected:
    std::streamsize xsputn(const char* text, std::streamsize count) override;
    int_type overflow(int_type c) override;
    int sync() override { return to_.flush() ? 0 : -1; }

   private:
    void end_line();

    std::ostream& to_;
    const std::size_t width_;
    std::string line_;
  };

  Lines lines_;
};

// If the reader closes the pipe (`| head`), this process ends silently. Not for `record`: its
// program would inherit the signal setting.
void end_quietly_on_closed_pipe();

}  // namespace uctrace::cli
