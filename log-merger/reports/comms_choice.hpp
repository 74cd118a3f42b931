// Selection by the filter of `uctrace comms`. Private to comms.cpp.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "log-merger/reports/comms.hpp"

namespace uctrace {

// The selectable facts about a call or a message.
struct CommsSubject {
  std::int32_t communicator;
  TextId function;
  std::int32_t process;
  std::int64_t start_ns;
};

class CommsChoice {
 public:
  // Throws Error for a value that the run does not have.
  CommsChoice(const RowSource& source, const CommsFilter& filter);

  bool asks_for_time() const { return from_ns_ || to_ns_; }
  bool names_functions() const { return functions_.has_value(); }
  bool accepts(const CommsSubject& subject);
  MpiKind kind_of(TextId function);
  bool starts_or_ends_mpi(TextId function);  // as of model/mpi_names.hpp

 private:
  const Run& run_;
  std::optional<std::set<std::int32_t>> comms_, processes_;
  std::optional<std::set<TextId>> functions_;
  std::optional<std::set<std::string>> kinds_;
  std::optional<std::uint64_t> from_ns_, to_ns_;
  std::map<TextId, MpiKind> kind_of_function_;
  std::map<TextId, bool> starts_or_ends_mpi_;
};

}  // namespace uctrace
