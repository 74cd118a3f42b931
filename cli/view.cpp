#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string_view>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/error.hpp"
#include "log-merger/page_data.hpp"

// The built page, carried in this program by page_template.S.
extern "C" const char uctrace_page_html_start[];
extern "C" const char uctrace_page_html_end[];

namespace uctrace::cli {

int run(const ViewCommand& command) {
  end_quietly_on_closed_pipe();
  const Run merged = load_run(command.data);
  const std::filesystem::path path =
      command.output.empty() ? command.data.folder / "report.html" : command.output;
  const std::string_view page(uctrace_page_html_start, uctrace_page_html_end);
  const std::string html = insert_page_data(page, page_data(merged, command.page));
  if (path == "-") {
    std::cout << html;
    return kOk;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file.write(html.data(), static_cast<std::streamsize>(html.size())).flush()) {
    throw Error({.what = "cannot write '" + path.string() + "'",
                 .why = std::strerror(errno),
                 .to_do = "name another file with -o FILE"});
  }
  std::cout << path.string() << '\n';
  return kOk;
}

}  // namespace uctrace::cli
