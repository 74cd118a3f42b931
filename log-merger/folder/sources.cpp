#include "log-merger/folder/sources.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "event-log/reader/error.hpp"
#include "log-merger/folder/data_files.hpp"

namespace uctrace {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::error_code& error) {
  const bool missing = error == std::errc::no_such_file_or_directory;
  throw Error({.what = "cannot read '" + path.string() + "'",
               .why = error.message(),
               .to_do = missing ? "record a job with `uctrace record -- COMMAND`, or name the "
                                  "folder that holds the data"
                                : "name a folder that you can read"});
}

bool is_source(std::string_view name) {
  return name == kRunFile || is_log_file(name) || is_topology_file(name);
}

// A name that is gone when examined, such as a dangling link, does not count.
bool look_at(const fs::path& path, Source& source) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return false;
    refuse(path, {errno, std::generic_category()});
  }
  constexpr std::int64_t kSecond = 1'000'000'000;
  source.inode = status.st_ino;
  source.bytes = static_cast<std::uint64_t>(status.st_size);
  source.changed_ns = status.st_ctim.tv_sec * kSecond + status.st_ctim.tv_nsec;
  return true;
}

}  // namespace

std::vector<Source> list_sources(const fs::path& folder) {
  std::vector<Source> sources;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    Source source;
    source.name = it->path().filename().string();
    if (is_source(source.name) && look_at(it->path(), source)) sources.push_back(std::move(source));
  }
  if (error) refuse(folder, error);
  std::sort(sources.begin(), sources.end(),
            [](const Source& a, const Source& b) { return a.name < b.name; });
  return sources;
}

bool is_log(const Source& source) { return fs::path(source.name).extension() == kLogSuffix; }

bool has_logs(std::span<const Source> sources) {
  return std::any_of(sources.begin(), sources.end(), is_log);
}

Workers workers_for(std::span<const Source> sources, std::size_t most, Progress* progress) {
  constexpr std::uint64_t kWorthThreads = std::uint64_t{1} << 20;  // of events, packed
  constexpr std::size_t kMostThreads = 256;
  std::uint64_t bytes = 0;
  for (const Source& source : sources) {
    if (is_log(source))
      bytes += source.bytes - std::min(source.bytes, std::uint64_t{log::kProcessPageBytes});
  }
  const std::size_t wanted = most != 0 ? std::min(most, kMostThreads) : usable_cpus();
  return Workers(bytes < kWorthThreads ? 1 : wanted, progress);
}

bool same_files(std::span<const Source> a, std::span<const Source> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Source& x, const Source& y) {
    return x.name == y.name && x.inode == y.inode && x.bytes == y.bytes &&
           x.changed_ns == y.changed_ns;
  });
}

bool are_settled(std::span<const Source> sources) {
  return std::all_of(sources.begin(), sources.end(), [](const Source& source) {
    return source.state != SourceState::running && source.state != SourceState::unseen &&
           source.state != SourceState::unreadable;
  });
}

std::size_t count_unreadable(std::span<const Source> sources) {
  return static_cast<std::size_t>(
      std::count_if(sources.begin(), sources.end(),
                    [](const Source& source) { return source.state == SourceState::unreadable; }));
}

void note_unreadable(Run& run, std::string_view name, const log::FileError& error) {
  for (Source& source : run.sources) {
    if (source.name == name) source.state = state_of(error.cause());
  }
}

SourceState state_of(log::WriterState writer) {
  switch (writer) {
    case log::WriterState::closed:
      return SourceState::closed;
    case log::WriterState::dead:
      return SourceState::dead;
    case log::WriterState::running:
      return SourceState::running;
    case log::WriterState::unseen:
      break;
  }
  return SourceState::unseen;
}

// An incomplete file may be complete another time.
SourceState state_of(log::FileError::Cause cause) {
  switch (cause) {
    case log::FileError::Cause::foreign:
      return SourceState::foreign;
    case log::FileError::Cause::system:
      return SourceState::unreadable;
    case log::FileError::Cause::unfinished:
      break;
  }
  return SourceState::unseen;
}

}  // namespace uctrace
