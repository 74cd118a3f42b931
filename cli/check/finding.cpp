#include "cli/check/finding.hpp"

#include <algorithm>

namespace uctrace::cli::check {

const char* name_of(Grade grade) {
  constexpr const char* kNames[] = {"ok", "warning", "problem"};
  return kNames[static_cast<std::size_t>(grade)];
}

void Findings::ok(const std::string& subject, const std::string& found) {
  all_.push_back(
      {.grade = Grade::ok, .subject = subject, .id = {}, .found = found, .why = {}, .fix = {}});
}

void Findings::add(Grade grade, const Trouble& trouble, Told told) {
  const std::string id = trouble.id;
  all_.push_back({.grade = grade,
                  .subject = id.substr(0, id.find('-')),
                  .id = id,
                  .found = std::move(told.found),
                  .why = std::move(told.why),
                  .fix = std::move(told.fix)});
}

void Findings::warning(const Trouble& trouble, Told told) {
  add(Grade::warning, trouble, std::move(told));
}

void Findings::problem(const Trouble& trouble, Told told) {
  add(Grade::problem, trouble, std::move(told));
}

Grade Findings::worst() const {
  Grade worst = Grade::ok;
  for (const Finding& finding : all_) worst = std::max(worst, finding.grade);
  return worst;
}

}  // namespace uctrace::cli::check
