// Findings about a run that are worth acting on, in words. docs/findings.md has every rule.
//
// A rule is a function from the facts of a run (facts.hpp) to findings. It is silent if it does not
// apply, or if its inputs are not known.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace::findings {

struct Finding {
  const char* rule = "";  // its name in docs/findings.md
  std::string what;       // the finding, with its numbers
  std::string advice;     // what to try; " DIR" in it stands for the folder
  std::string command;    // shows it: a verb of uctrace and its options, without the folder
  nlohmann::ordered_json evidence = nlohmann::ordered_json::object();  // the numbers, by key
  // Its weight, from 0 to 1: the share of the time of all ranks, or else of the payload.
  double share = 0;
  // The records themselves are in doubt: listed before conclusions from them.
  bool doubts_records = false;
};

// All findings: doubts first, then by share, then in the order of the rules. Reads no single rows
// if the run has its sums.
std::vector<Finding> findings_of(const RowSource& source);

// "uctrace report DIR --by pairs". `folder`: quoted for a shell; empty: not needed.
std::string command_of(const Finding& finding, const std::string& folder);
// With the folder in its commands.
std::string advice_of(const Finding& finding, const std::string& folder);

}  // namespace uctrace::findings
