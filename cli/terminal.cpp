#include "cli/terminal.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

namespace uctrace::cli {

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

void end_quietly_on_closed_pipe() { std::signal(SIGPIPE, SIG_DFL); }

}  // namespace uctrace::cli
