// What standard output is, and how the tool behaves on it.
#pragma once

#include <cstddef>
#include <ostream>
#include <streambuf>
#include <string>

#include "log-merger/reports/table.hpp"

namespace uctrace::cli {

// On for a terminal, or where CLICOLOR_FORCE asks for it; NO_COLOR has the last word.
Colour colour_of_output();

// Columns that a text may take: those of the terminal. kAnyWidth for other formats, where standard
// output is no terminal, and for who asked for `wide`.
std::size_t width_of_output(Format format, bool wide);

// Passes lines on, and breaks those at spaces that are longer than `width`; what follows is
// indented. What has no space there stays as it is. The last line is out when this ends.
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

// A reader that has seen enough (`| head`) ends this process without a word. Not for `record`: its
// program inherits what it does to signals.
void end_quietly_on_closed_pipe();

}  // namespace uctrace::cli
