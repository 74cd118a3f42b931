#include <iostream>
#include <string_view>
#include <system_error>

#include "cli/run_loader.hpp"
#include "cli/store_place.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/data_files.hpp"
#include "log-merger/error.hpp"
#include "log-merger/new_file.hpp"
#include "log-merger/page_data.hpp"

// The built page, carried in this program by page_template.S.
extern "C" const char uctrace_page_html_start[];
extern "C" const char uctrace_page_html_end[];

namespace uctrace::cli {

namespace {

namespace fs = std::filesystem;

void write_page(const fs::path& path, std::string_view html) {
  try {
    remove_leftovers(path);
    NewFile file(path);
    file.write(html);
    file.publish();
  } catch (const std::system_error& error) {
    throw Error({.what = "cannot write '" + path.string() + "'",
                 .why = why_not_written(error),
                 .to_do = "name another file with -o FILE"});
  }
}

// Beside the merged run, in the place of an older page only.
fs::path default_page(const DataChoice& data) {
  const fs::path path = StorePlace(data).make_folder() / kPageFile;
  require_replaceable(path, is_page);
  return path;
}

}  // namespace

int run(const ViewCommand& command) {
  end_quietly_on_closed_pipe();
  const Run merged = load_run(command.data);
  const std::string_view page(uctrace_page_html_start, uctrace_page_html_end);
  const std::string html = insert_page_data(page, page_data(merged, command.page));
  if (command.output == "-") {
    std::cout << html;
    return kOk;
  }
  const fs::path path = command.output.empty() ? default_page(command.data) : command.output;
  write_page(path, html);
  std::cout << path.string() << '\n';
  return kOk;
}

}  // namespace uctrace::cli
