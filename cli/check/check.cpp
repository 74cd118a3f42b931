// `uctrace check`: runs the checks in the order in which a user can act on them, and prints them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/check/check_run.hpp"
#include "cli/check/checks.hpp"
#include "cli/data-folder/scratch_folder.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/reports/table.hpp"
#include "ucx-facts/library_names.hpp"

namespace uctrace::cli {
namespace {

using namespace check;
using nlohmann::ordered_json;

constexpr const char* kSystemUcx = "libucp.so.0";

// Sets here what the line sets for the job, so that all answers are the same as for the job.
void adopt(const Target& target) {
  for (const auto& [name, value] : target.environment) setenv(name.c_str(), value.c_str(), 1);
  for (const auto& [name, value] : target.mca) {
    setenv(("OMPI_MCA_" + name).c_str(), value.c_str(), 1);
  }
}

// The MPIs to look at: the program's own, else the launcher's, else the machine's.
std::vector<Mpi> find_mpis(const Target& target, const ProgramFacts& program) {
  if (target.command.empty()) return mpis_of_machine();
  if (const auto mpi = mpi_of(program.libraries, target.launcher.path)) return {*mpi};
  if (const auto mpi = mpi_of_launcher(target.launcher)) return {*mpi};
  return {};
}

// One trial per UCX; its result serves each MPI that uses this UCX.
void check_ucx_and_mpi(Findings& findings, const Target& target, const ProgramFacts& program,
                       const std::filesystem::path& preload) {
  const std::vector<Mpi> mpis = find_mpis(target, program);
  std::map<std::string, std::vector<std::string>> users;
  for (const Mpi& mpi : mpis) {
    if (!mpi.libucp.empty()) users[mpi.libucp].push_back(mpi.name);
  }
  for (const LoadedLibrary& own : program.libraries) {
    if (!ucx::is_library(own.name, "libucp") || users.contains(own.path)) continue;
    users[own.path].push_back(target.program);
  }
  if (users.empty()) users[kSystemUcx].push_back("programs that use it without MPI");
  std::map<std::string, UcxFacts> known;
  for (const auto& [libucp, names] : users) {
    known[libucp] =
        check_ucx(findings, libucp, fmt::format("{}", fmt::join(names, " and ")), preload);
  }
  for (const Mpi& mpi : mpis) check_mpi(findings, mpi, known[mpi.libucp], target);
  if (mpis.empty() && target.command.empty()) {
    findings.warning(kMpiNone, {.found = "no MPI was found",
                                .why = "neither mpirun nor mpiexec is in PATH",
                                .fix = "module load an MPI, or apt-get install openmpi-bin"});
  }
}

Findings run_checks(const CheckCommand& command) {
  Findings findings;
  const std::vector<Target> targets = find_targets(command.program);
  const Target& target = targets.front();
  adopt(target);
  const ScratchFolder scratch;
  const std::filesystem::path preload = check_library(findings, scratch.path());
  ProgramFacts program;
  if (!command.program.empty()) program = check_program(findings, target);
  for (std::size_t i = 1; i < targets.size(); ++i) check_program(findings, targets[i]);
  check_ucx_and_mpi(findings, target, program, preload);
  check_recorded_part(findings);
  check_clock(findings);
  check_folder(findings, command.folder);
  check_limits(findings);
  check_kernel(findings);
  check_gpu(findings);
  return findings;
}

// --- output ----------------------------------------------------------------------------------

std::string graded(Grade grade, Colour colour) {
  const std::string name = fmt::format("{:<8}", name_of(grade));
  if (colour == Colour::off) return name;
  const int code = grade == Grade::ok ? 32 : grade == Grade::warning ? 33 : 31;
  return fmt::format("\033[{}m{}\033[0m", code, name);
}

void write_text(std::ostream& out, const std::vector<Finding>& shown, std::size_t hidden,
                Grade worst, Colour colour) {
  for (const Finding& finding : shown) {
    out << fmt::format("{} {:<8} {}\n", graded(finding.grade, colour), finding.subject,
                       finding.found);
    if (finding.grade == Grade::ok) continue;
    out << fmt::format("{:18}why: {}\n{:18}fix: {}\n{:18}({})\n", "", finding.why, "", finding.fix,
                       "", finding.id);
  }
  if (hidden != 0) out << fmt::format("({} more rows)\n", hidden);
  const char* verdict = worst == Grade::ok        ? "ready to record"
                        : worst == Grade::warning ? "ready to record, with warnings"
                                                  : "not ready: see the problems above";
  out << verdict << "\n";
}

Table table_of(const std::vector<Finding>& shown) {
  Table table{.key = "findings",
              .title = "Findings",
              .columns = {{"grade", "grade"},
                          {"subject", "subject"},
                          {"id", "id"},
                          {"found", "found"},
                          {"why", "why"},
                          {"fix", "fix"}},
              .rows = {}};
  const auto cell = [](const std::string& text) { return text.empty() ? Cell{} : Cell{text}; };
  for (const Finding& finding : shown) {
    table.rows.push_back({std::string(name_of(finding.grade)), finding.subject, cell(finding.id),
                          finding.found, cell(finding.why), cell(finding.fix)});
  }
  return table;
}

void write(const Findings& findings, const CheckCommand& command) {
  std::vector<Finding> shown = findings.all();
  const std::size_t count = std::min(shown.size(), command.limit.value_or(shown.size()));
  // A truncated list must keep its worst entry.
  if (command.limit) {
    std::stable_sort(shown.begin(), shown.end(),
                     [](const Finding& a, const Finding& b) { return a.grade > b.grade; });
  }
  const std::size_t hidden = shown.size() - count;
  shown.resize(count);
  switch (command.format) {
    case Format::table: {
      FittedOutput fitted(std::cout, width_of_output(command.format, command.wide));
      return write_text(fitted, shown, hidden, findings.worst(), colour_of_output());
    }
    case Format::csv:
      return write_csv(std::cout, table_of(shown));
    case Format::ndjson:
      return write_ndjson(std::cout, table_of(shown), false);
    case Format::json: {
      const ordered_json json = {{"schema", kCheckSchema},
                                 {"result", name_of(findings.worst())},
                                 {"findings", to_json(table_of(shown))}};
      std::cout << dump(json, 2) << '\n';
    }
  }
}

}  // namespace

int run(const CheckCommand& command) {
  end_quietly_on_closed_pipe();
  if (!command.expect.empty()) return check_recorded_run(command);
  const Findings findings = run_checks(command);
  write(findings, command);
  return findings.worst() == Grade::problem ? kProblemFound : kOk;
}

}  // namespace uctrace::cli
