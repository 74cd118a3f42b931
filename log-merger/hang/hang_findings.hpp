// What was found of an unfinished job, and words for it that several lists need.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "log-merger/hang/hang_graph.hpp"
#include "log-merger/hang/sitters.hpp"
#include "log-merger/hang/wait_graph.hpp"
#include "log-merger/hang/waits.hpp"

namespace uctrace::merge {

class HangFindings {
 public:
  explicit HangFindings(const Job& job);

 protected:
  using Json = nlohmann::ordered_json;

  static bool any_stuck(const Deadlock& deadlock);
  bool is_waiting(std::size_t i) const;
  bool any_waits() const;
  std::string function(CallIndex call) const;
  std::string with_site(CallIndex call) const;
  // "is in MPI_Recv at main (app.c:12) since 1.2 s"
  std::string seat(const Sitter& sitter) const;
  std::string gone_words(ProcessIndex process) const;
  const Sitter& sitter_of(ProcessIndex process) const;
  Json number_of(ProcessIndex process) const;
  Json group_json(const RankGroup& group) const;
  // Processes along a cycle, each once, in its order.
  std::vector<ProcessIndex> processes_of(const std::vector<WaitNode>& cycle) const;

  const Job& job_;
  const Sitters sitters_;
  WaitFinder finder_;
  std::vector<Waiting> waiting_;  // of each of the sitters
  // A deadlock that is sure, else one that may be; and by node of its graph the process.
  Deadlock found_;
  bool is_sure_ = false;
  std::vector<std::int32_t> owners_;
  // Who is waited for in the end, sure or not.
  std::vector<ChainEnd> ends_;
  std::vector<std::int32_t> owners_of_all_;
};

}  // namespace uctrace::merge
