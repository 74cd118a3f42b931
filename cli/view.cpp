#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/data-folder/shown_folder.hpp"
#include "cli/data-folder/store_place.hpp"
#include "cli/failure_text.hpp"
#include "cli/measured_run.hpp"
#include "cli/progress_line.hpp"
#include "cli/require_new.hpp"
#include "cli/run_loader.hpp"
#include "cli/serving/http_server.hpp"
#include "cli/serving/page_server.hpp"
#include "cli/serving/port.hpp"
#include "cli/serving/stop_signals.hpp"
#include "cli/terminal.hpp"
#include "cli/tile_folder.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/diff/diff.hpp"
#include "log-merger/diff/diff_output.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/page-data/page_data.hpp"
#include "log-merger/parallel/workers.hpp"
#include "log-merger/store/store.hpp"

// The built page, carried in this program by page_template.S.
extern "C" const char uctrace_page_html_start[];
extern "C" const char uctrace_page_html_end[];

namespace uctrace::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Most changes in a comparison on the page, the largest first.
constexpr std::size_t kPageChanges = 500;

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

// For a pipe or device that the user named, such as /dev/stdout.
void write_into(const fs::path& path, std::string_view html) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool ok = fd >= 0 && write_all(fd, html);
  const int error = errno;
  if (fd >= 0) close(fd);
  if (!ok) refuse(path, std::error_code(error, std::generic_category()).message());
}

// The target of a link made by this user or the system. Other users' links are replaced, never
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

// Beside the merged run; replaces nothing but an older page.
fs::path default_page(const DataChoice& data) {
  const fs::path path = StorePlace(data).make_folder() / kPageFile;
  require_replaceable(path, is_page);
  remove_leftovers(path);
  return path;
}

PageOptions options_of(const ViewCommand& command) {
  PageOptions options = command.page;
  options.limit = command.limit.value_or(kPageEvents);
  options.folder = shown_folder(command.data);
  options.served = command.serve && !command.tiles;
  return options;
}

// The measures of an earlier run, with the options of the page's run; nothing if none is named.
std::optional<diff::RunMeasures> earlier_run(const ViewCommand& command) {
  if (command.before.empty()) return std::nullopt;
  DataChoice before = command.data;
  before.folder = command.before;
  before.job.clear();
  before.store.clear();
  return measured_run(before);
}

ordered_json comparison_of(const diff::RunMeasures& earlier, const RowSource& rows,
                           const ViewCommand& command) {
  const diff::RunMeasures now = diff::measures_of(rows);
  return diff_json({earlier, now, command.before.string(), command.data.folder.string()},
                   diff::compare(earlier, now), kPageChanges);
}

std::string_view page_template() { return {uctrace_page_html_start, uctrace_page_html_end}; }

std::string page_of(const RowSource& rows, const PageOptions& options) {
  return insert_page_data(page_template(), page_data(rows, options));
}

TileOptions tile_options(const ViewCommand& command) {
  TileOptions tiles;
  tiles.operations = command.limit.value_or(kTileOperations);
  const std::uint64_t memory_bytes = command.data.memory_bytes;
  if (memory_bytes != 0) tiles.memory_bytes = std::min(tiles.memory_bytes, memory_bytes / 2);
  return tiles;
}

void write_tiles(const RowSource& rows, PageOptions options, const ViewCommand& command) {
  TileFolder folder(command.output);
  ProgressLine line;
  TileOptions& tiles = options.tiles.emplace(tile_options(command));
  const std::size_t threads = command.data.threads;
  tiles.workers = Workers(threads == 0 ? usable_cpus() : threads);
  tiles.write = [&](std::size_t number, const std::string& script) {
    folder.write_tile(number, script);
  };
  tiles.progress = [&](std::size_t written, std::size_t of) { line.wrote("tiles", written, of); };
  nlohmann::ordered_json data = page_data(rows, options);
  line.erase();
  folder.publish(insert_page_data(with_tiles_allowed(page_template()), std::move(data)));
}

constexpr std::size_t kMegabyte = 1'000'000;

// A larger page takes long to open.
std::size_t longest_page() {
  const char* test = std::getenv("UCTRACE_TEST_PAGE_BYTES");  // for tests, which make no such run
  return test != nullptr ? std::strtoull(test, nullptr, 10) : 25 * kMegabyte;
}

// A page, the number of its operations in detail, and the total.
struct MadePage {
  std::string html;
  std::uint64_t embedded = 0, events = 0;
};

MadePage make_page(const RowSource& rows, const PageOptions& options) {
  ordered_json data = page_data(rows, options);
  MadePage page{.html = {}, .embedded = data["time"]["embedded"], .events = data["time"]["events"]};
  page.html = insert_page_data(page_template(), std::move(data));
  return page;
}

// Unless a number is given, the page has as many operations in detail as fit. Sums are never cut: a
// page that is too large with these alone stays as it is.
std::string fitting_page(const RowSource& rows, PageOptions options, bool is_limit_given) {
  MadePage whole = make_page(rows, options);
  const std::size_t most = longest_page();
  if (whole.html.size() <= most || is_limit_given) return std::move(whole.html);
  options.limit = 0;
  MadePage fitting = make_page(rows, options);
  if (fitting.html.size() > most) return std::move(whole.html);
  // Each operation takes about the same room; the first ones also need their texts.
  const double share = static_cast<double>(most - fitting.html.size()) /
                       static_cast<double>(whole.html.size() - fitting.html.size());
  options.limit = static_cast<std::uint64_t>(0.9 * share * static_cast<double>(whole.embedded));
  constexpr int kTries = 4;
  for (int i = 0; i < kTries && options.limit > 0; ++i, options.limit /= 2) {
    MadePage page = make_page(rows, options);
    if (page.html.size() > most) continue;
    fitting = std::move(page);
    break;
  }
  warn(fmt::format("the page has {} of {} operations in detail", fitting.embedded, fitting.events),
       fmt::format("with more it would be above {} MB; uctrace view --tiles -o DIR writes all of "
                   "them, into files of their own, and --limit N says how many go into the page",
                   most / kMegabyte));
  return std::move(fitting.html);
}

void tell_long_page(const std::string& html) {
  if (html.size() <= longest_page()) return;
  warn(fmt::format("the page has {} MB", html.size() / kMegabyte),
       "it may be slow to open; uctrace view --tiles writes a small page, and the operations in "
       "files of their own; --limit N puts fewer into the page");
}

void require_sense(const ViewCommand& command) {
  if (command.serve && !command.output.empty()) {
    throw Error({.what = "--output " + command.output.string(),
                 .why = "with --serve no file is written",
                 .to_do = "leave out one of the two"});
  }
  if (command.tiles && !command.serve && (command.output.empty() || command.output == "-")) {
    throw Error({.what = "--tiles",
                 .why = "it writes a folder, and none is named",
                 .to_do = "name one with -o DIR, or serve them with --serve"});
  }
  if (!command.serve && command.port != 0) {
    throw Error({.what = "--port " + std::to_string(command.port),
                 .why = "nothing is served, as --serve is missing",
                 .to_do = "give --serve as well"});
  }
  serving::require_port(command.port);
}

// The built page itself allows no more than this.
constexpr std::string_view kPagePolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// It writes no files, so a signal may end the process while a page or a tile is made.
void serve(const serving::PageServer& pages, std::size_t port, serving::StopSignals& stop) {
  serving::HttpServer server({.address = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  std::cout << server.url() << pages.path() << std::endl;
  server.serve([&](const serving::HttpRequest& request) { return pages.answer(request); },
               stop.descriptor());
}

// What the page shows in place of something that could not be made.
std::string served_failure(const std::exception& failure) {
  const auto* const unreadable = dynamic_cast<const UnreadableStore*>(&failure);
  if (unreadable == nullptr) return failure_text(failure);
  Problem problem = unreadable->problem();
  problem.to_do += ", and start `uctrace view --serve` again";
  return Error(problem).message();
}

// With a damaged store, the first page throws before anything is served, so the logs are merged
// again. Damage that comes later is an error where it is met.
void serve_page(const RowSource& rows, const PageOptions& options, std::size_t port) {
  std::string whole = page_of(rows, options);
  serving::StopSignals stop;
  const serving::MakePage make = [&](const serving::Span& span) {
    const serving::StopSignals::EndAtOnce end_at_once;
    PageOptions of_span = options;
    of_span.from_ns = span.from_ns;
    of_span.to_ns = span.to_ns;
    try {
      return page_of(rows, of_span);
    } catch (const std::exception& failure) {
      throw std::runtime_error(served_failure(failure));
    }
  };
  serve({serving::random_token(), std::string(kPagePolicy), std::move(whole), make}, port, stop);
}

// Serves the page, and its tiles on request.
void serve_tiles(const RowSource& rows, PageOptions options, const ViewCommand& command) {
  MakeTile make_tile;
  TileOptions& tiles = options.tiles.emplace(tile_options(command));
  tiles.serve = [&](MakeTile make) { make_tile = std::move(make); };
  std::string page =
      insert_page_data(with_tiles_allowed(page_template()), page_data(rows, options));
  serving::StopSignals stop;
  const serving::MakeTile make = [&](std::size_t number) -> std::optional<std::string> {
    const serving::StopSignals::EndAtOnce end_at_once;
    try {
      return make_tile(number);
    } catch (const std::exception& failure) {
      return failed_tile(served_failure(failure));
    }
  };
  serve({serving::random_token(), with_tiles_allowed(kPagePolicy), std::move(page), make},
        command.port, stop);
}

}  // namespace

int run(const ViewCommand& command) {
  require_sense(command);
  if (command.tiles && !command.serve) require_new(command.output);
  end_quietly_on_closed_pipe();
  const SameFolder folder(command.data.folder);
  std::ostringstream made;
  PageOptions options = options_of(command);
  const std::optional<diff::RunMeasures> earlier = earlier_run(command);
  tell_run(command.data, made, [&](std::ostream& out, const RowSource& rows) {
    if (earlier) options.comparison = comparison_of(*earlier, rows, command);
    if (command.serve && command.tiles) return serve_tiles(rows, options, command);
    if (command.serve) return serve_page(rows, options, command.port);
    if (command.tiles) return write_tiles(rows, options, command);
    out << fitting_page(rows, options, command.limit.has_value());
  });
  if (command.serve) return kOk;
  if (command.tiles) {
    std::cout << (command.output / "index.html").string() << '\n';
    return kOk;
  }
  const std::string html = std::move(made).str();
  tell_long_page(html);
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
