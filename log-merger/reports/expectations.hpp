// Compares the transports that carried a run's payload with the expected ones: `uctrace check
// --run`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "log-merger/reports/table.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

struct Expectation {
  bool within_hosts = true;             // else between hosts
  std::vector<std::string> transports;  // names as in UCX_TLS
};

// "inter=rc,intra=sysv|posix|cma|self". Throws Error for anything else.
std::vector<Expectation> parse_expectations(const std::string& text);

// met: all payload as expected. nothing: no payload between such pairs. unproven: the path of some
// is not known.
enum class Outcome : std::uint8_t { met, nothing, unproven, not_met };
const char* name_of(Outcome);

// Unexpected payload between two processes; transport "": not known.
struct Unexpected {
  std::size_t expectation = 0;
  std::int32_t src_process = -1, dst_process = -1;
  std::string transport;
  std::uint64_t bytes = 0;
};

struct Judged {
  Expectation expectation;
  Outcome outcome = Outcome::nothing;
  std::uint64_t bytes = 0;          // payload of such pairs
  std::uint64_t fitting_bytes = 0;  // of it, by expected transports
};

struct Judgement {
  std::vector<Judged> expectations;
  std::vector<Unexpected> unexpected;  // the greatest first
  std::vector<std::string> doubts;     // why nothing can be claimed, in words
  Outcome outcome() const;             // the worst; unproven if there are doubts
};
Judgement judge(const RowSource& source, const std::vector<Expectation>& expectations);

void write_judgement(std::ostream& out, const Run& run, const Judgement& judgement,
                     std::size_t limit, Colour colour, std::size_t width);
// {result, expectations, pairs, doubts}.
nlohmann::ordered_json judgement_json(const Run& run, const Judgement& judgement);
// The pairs that did not meet the expectations.
Table unexpected_table(const Run& run, const Judgement& judgement);

}  // namespace uctrace
