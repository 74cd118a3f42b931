// The input of rules: summaries of a run, made once for all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/latencies.hpp"

namespace uctrace::findings {

// Payload between two processes that one transport carried from one end to the other.
struct Carried {
  std::int32_t src_process = -1, dst_process = -1;
  Reach reach = Reach::unknown;
  TextId transport = kNoText;
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t host_bytes = 0;  // of messages between host memories
};

// Messages below kTinyBytes sent by a function from one place.
inline constexpr std::uint64_t kTinyBytes = 256;
struct TinyMessages {
  std::int32_t call_site = -1;  // into call_sites
  TextId mpi = kNoText;
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t ns = 0;  // in calls of the function from there, of any length, all ranks
};

// Payload from or to GPUs that was copied through the host's memory on its way.
struct Staged {
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t of_messages = 0, of_bytes = 0;  // all with GPU memory at an end
};

// Messages that waited until UCX had connected to their receiver. A message that waited for several
// lanes counts once.
struct Connecting {
  std::uint64_t messages = 0;
  double ns = 0;  // time of all processes while at least one of their messages waited
  std::int64_t longest_ns = 0;
  TextId transport = kNoText;  // that the longest waited for
};

struct Facts {
  const Run& run;
  nlohmann::ordered_json info;  // Run::info_json, parsed
  std::uint64_t messages = 0, payload_bytes = 0;
  std::vector<Carried> carried = {};
  std::vector<TinyMessages> tiny = {};
  Staged staged = {};
  Connecting connecting = {};
  std::vector<ProtocolSize> protocols = {};
  double rank_ns = 0;  // from the end of MPI_Init to MPI_Finalize, of all ranks together

  double share_of_time(double ns) const { return rank_ns > 0 ? std::min(1.0, ns / rank_ns) : 0; }
  double share_of_payload(std::uint64_t bytes) const {
    return payload_bytes > 0 ? static_cast<double>(bytes) / static_cast<double>(payload_bytes) : 0;
  }
};

Facts facts_of(const RowSource& source);

// A count in Run::info_json; 0 if there is none.
std::uint64_t count_of(const nlohmann::ordered_json& object, const char* key);

// For a computed time of any length.
std::string time_text(double ns);

// Time outside MPI.
inline double work_ns(const RankTime& rank) {
  return static_cast<double>(rank.t_end_ns) - static_cast<double>(rank.t_begin_ns) -
         static_cast<double>(rank.mpi_ns) - static_cast<double>(rank.sessions_ns);
}

}  // namespace uctrace::findings
