// Runs for which finding rules report something, and their findings.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "log-merger/findings/finding.hpp"
#include "log-merger/summaries/latencies.hpp"
#include "log-merger/summaries/sums.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {

using findings::Finding;
using findings::findings_of;

constexpr std::int64_t kMs = 1'000'000;

// Ranks of one host, or of two where `hosts` is 2, that do nothing yet.
inline Run quiet_run(std::size_t ranks = 2, std::size_t hosts = 1) {
  Run run;
  run.info_json = R"({"events":{"uct":9,"ucp":9,"mpi":9,"dropped":0},
                      "layers":{"uct":{"state":"on"},"ucp":{"state":"on"}}})";
  add_processes(run, ranks);
  for (std::size_t i = 0; i < ranks; ++i) {
    run.processes[i].host = run.texts.intern("node" + std::to_string(i % hosts));
  }
  return run;
}

inline void add_rank_times(Run& run, std::int64_t ns, std::int64_t mpi_ns = 0) {
  for (std::uint32_t i = 0; i < run.processes.size(); ++i) {
    RankTime rank;
    rank.process = i;
    rank.threads = 1;
    rank.t_begin_ns = 0;
    rank.t_end_ns = ns;
    rank.mpi_ns = mpi_ns;
    run.rank_times.push_back(rank);
  }
}

struct Sent {
  const char* transport = "cma";
  const char* protocol = "rndv/get";
  std::uint64_t bytes = 1 << 20;
  std::int64_t latency_ns = 1000;
  std::int32_t src = 0, dst = 1;
  int count = 1;
};

inline void send(Run& run, const Sent& sent) {
  for (int i = 0; i < sent.count; ++i) {
    Message message;
    message.src = message.src_process = sent.src;
    message.dst = message.dst_process = sent.dst;
    message.bytes = sent.bytes;
    message.src_memory = message.dst_memory = MemoryKind::host;
    message.protocol = run.texts.intern(sent.protocol);
    message.t_start_ns = static_cast<std::int64_t>(run.messages.size()) * 10;
    message.t_end_ns = message.t_start_ns + sent.latency_ns;
    message.first_hop = static_cast<std::uint32_t>(run.hops.size());
    message.hops = 1;
    Hop hop;
    hop.message = static_cast<std::uint32_t>(run.messages.size());
    hop.transport = run.texts.intern(sent.transport);
    hop.op = run.texts.intern("am_bcopy");
    hop.payload_bytes = hop.wire_bytes = sent.bytes;
    hop.count = 1;
    run.hops.push_back(hop);
    run.messages.push_back(message);
  }
}

// Out of sums as well as out of rows, which must say the same.
inline std::vector<Finding> all_of(Run run) {
  merge::lay_out_latencies(run);
  const std::vector<Finding> of_rows = findings_of(run);
  lay_out_sums(run);
  const std::vector<Finding> of_sums = findings_of(run);
  REQUIRE(of_rows.size() == of_sums.size());
  for (std::size_t i = 0; i < of_rows.size(); ++i) {
    CHECK(of_rows[i].what == of_sums[i].what);
    CHECK(of_rows[i].evidence == of_sums[i].evidence);
  }
  return of_sums;
}

// The finding of a rule; empty where it is silent.
inline std::string said(const Run& run, const std::string& rule) {
  for (const Finding& finding : all_of(run)) {
    if (finding.rule == rule) return finding.what;
  }
  return "";
}

inline std::string shown_by(const Run& run, const std::string& rule) {
  for (const Finding& finding : all_of(run)) {
    if (finding.rule == rule) return finding.command;
  }
  return "";
}

inline std::string advised(const Run& run, const std::string& rule) {
  for (const Finding& finding : all_of(run)) {
    if (finding.rule == rule) return finding.advice;
  }
  return "";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace uctrace
