// What is worth a person's while in a run, in words. docs/findings.md has every rule.
//
// A rule is a function from the facts of a run (facts.hpp) to findings. It is silent where it does
// not apply, and where what it needs is not known.
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
  std::string command;    // what shows it: a verb of uctrace and its options, without the folder
  nlohmann::ordered_json evidence = nlohmann::ordered_json::object();  // the numbers, by key
  // How much it is about, between 0 and 1: of the time of all ranks, or else of the payload.
  double share = 0;
  // The records themselves are in doubt: told before what is made of them.
  bool doubts_records = false;
};

// All findings: what is in doubt first, then the greatest share, then in the order of the rules.
// Costs no reading of single rows where the run keeps its sums.
std::vector<Finding> findings_of(const RowSource& source);

// "uctrace report DIR --by pairs". `folder`: as a shell reads it; empty: none has to be named.
std::string command_of(const Finding& finding, const std::string& folder);
// With the folder in its commands.
std::string advice_of(const Finding& finding, const std::string& folder);

}  // namespace uctrace::findings
