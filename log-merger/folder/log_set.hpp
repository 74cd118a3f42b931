// The logs of a run, before they are loaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "event-log/reader/error.hpp"
#include "event-log/reader/reader.hpp"
#include "log-merger/folder/sources.hpp"
#include "log-merger/parallel/workers.hpp"

namespace uctrace {

// A file that could not be read as a log.
struct LeftOut {
  std::string log;
  Problem problem;
  log::FileError::Cause cause;
};

// hwloc's topology of a node, beside the logs of its processes.
struct TopologyFile {
  std::string node;  // its host's name and the beginning of its boot id
  std::filesystem::path path;
  bool finished = true;  // it was written to the end
};

struct JobInFolder {
  std::string key;
  std::uint64_t started_realtime_ns = 0;  // its last process
  std::size_t processes = 0;
  bool shown = false;
};

struct LogSet {
  std::string folder;  // its name in messages
  std::vector<log::LogFile> files;
  std::vector<LeftOut> left_out;
  std::vector<TopologyFile> topologies = {};
  std::vector<Source> sources = {};    // all files examined
  std::vector<JobInFolder> jobs = {};  // by key; none if `files` says it
  Workers workers = Workers();         // as many as the logs need

  // Adds the log that `open` returns, or keeps why it cannot be read.
  template <typename Open>
  SourceState add(const std::string& name, Open open) {
    return look_at(name, [&] { return files.emplace_back(open()).state(); });
  }

  // `look` examines a log and returns the state of its writer.
  template <typename Look>
  SourceState look_at(const std::string& name, Look look) {
    try {
      return state_of(look());
    } catch (const log::FileError& error) {
      left_out.push_back({name, error.problem(), error.cause()});
      return state_of(error.cause());
    }
  }
};

}  // namespace uctrace
