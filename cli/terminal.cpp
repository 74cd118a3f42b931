#include "cli/terminal.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

namespace uctrace::cli {

Colour colour_of_output() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool refused = no_color != nullptr && no_color[0] != '\0';
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return isatty(STDOUT_FILENO) == 1 && !refused && !dumb ? Colour::on : Colour::off;
}

void end_quietly_on_closed_pipe() { std::signal(SIGPIPE, SIG_DFL); }

}  // namespace uctrace::cli
