#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "cli/data-folder/store_place.hpp"
#include "cli/data-folder/shown_folder.hpp"
#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/page-data/page_data.hpp"

// The built page, carried in this program by page_template.S.
extern "C" const char uctrace_page_html_start[];
extern "C" const char uctrace_page_html_end[];

namespace uctrace::cli {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error({.what = "cannot write '" + path.string() + "'",
               .why = why,
               .to_do = "name another file with -o FILE"});
}

template <typename BeforePublishing>
void write_page(const fs::path& path, std::string_view html, BeforePublishing before_publishing) {
  try {
    NewFile file(path);
    file.write(html);
    before_publishing();
    file.publish();
  } catch (const std::system_error& error) {
    refuse(path, why_not_written(error));
  }
}

// A pipe or a device that the user named, as /dev/stdout.
void write_into(const fs::path& path, std::string_view html) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool ok = fd >= 0 && write_all(fd, html);
  const int error = errno;
  if (fd >= 0) close(fd);
  if (!ok) refuse(path, std::error_code(error, std::generic_category()).message());
}

// Where a link leads that this user, or the system, made. Somebody else's is replaced, and never
// followed.
fs::path named_file(const fs::path& path) {
  struct stat link {};
  if (lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode) ||
      (link.st_uid != geteuid() && link.st_uid != 0)) {
    return path;
  }
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) refuse(path, "it is a link, and what it leads to: " + error.message());
  return target;
}

void write_named_page(const fs::path& path, std::string_view html) {
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode) || S_ISSOCK(status.st_mode))) {
    return write_into(path, html);
  }
  write_page(named_file(path), html, [] {});
}

// Beside the merged run, in the place of an older page only.
fs::path default_page(const DataChoice& data) {
  const fs::path path = StorePlace(data).make_folder() / kPageFile;
  require_replaceable(path, is_page);
  remove_leftovers(path);
  return path;
}

}  // namespace

int run(const ViewCommand& command) {
  end_quietly_on_closed_pipe();
  const SameFolder folder(command.data.folder);
  const std::string_view page(uctrace_page_html_start, uctrace_page_html_end);
  std::ostringstream made;
  PageOptions options = command.page;
  options.folder = shown_folder(command.data);
  tell_run(command.data, made, [&](std::ostream& out, const RowSource& rows) {
    out << insert_page_data(page, page_data(rows, options));
  });
  const std::string html = std::move(made).str();
  if (command.output == "-") {
    std::cout << html;
    return kOk;
  }
  if (!command.output.empty()) {
    write_named_page(command.output, html);
    std::cout << command.output.string() << '\n';
    return kOk;
  }
  const fs::path path = default_page(command.data);
  write_page(path, html, [&] {
    if (folder.is_still_there()) return;
    refuse(path, "the data folder was renamed meanwhile: a new job is recorded there");
  });
  std::cout << path.string() << '\n';
  return kOk;
}

}  // namespace uctrace::cli
