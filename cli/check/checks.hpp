// The checks, each about one subject. They add their findings and never throw because of them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/check/elf_file.hpp"
#include "cli/check/finding.hpp"
#include "cli/check/mpi.hpp"
#include "cli/check/target.hpp"

namespace uctrace::cli::check {

// The schema of the JSON that `check` prints.
inline constexpr int kCheckSchema = 1;

// The preload library, or a link to it in `scratch` if LD_PRELOAD cannot hold its path; empty if
// there is none that a job could load.
std::filesystem::path check_library(Findings& findings, const std::filesystem::path& scratch);

// The program of a command line: whether it can load the preload library at all, and its libraries.
struct ProgramFacts {
  bool can_be_recorded = false;
  std::vector<LoadedLibrary> libraries;
};
ProgramFacts check_program(Findings& findings, const Target& target);

// One UCX, by its own account. `transports` are "cma/memory", "rc_mlx5/mlx5_0:1", ...
struct UcxFacts {
  std::string version;
  std::map<std::string, std::filesystem::path> libraries;  // by "ucp", "uct", "ucs"
  std::map<std::string, std::string> settings;             // UCX_TLS -> all, ...
  std::set<std::string> transports;
};

// Tries a UCX: a path of libucp, or its bare name for the one of the system. `users` says who uses
// it ("Open MPI 4.1.4"). The preload library may be empty: then nothing is recorded.
UcxFacts check_ucx(Findings& findings, const std::string& libucp, const std::string& users,
                   const std::filesystem::path& preload);

// Whether this MPI uses UCX on this machine.
void check_mpi(Findings& findings, const Mpi& mpi, const UcxFacts& ucx, const Target& target);

// The part of a run that the environment selects: windows, the newest events, some layers.
void check_recorded_part(Findings& findings);
void check_clock(Findings& findings);
void check_folder(Findings& findings, const std::filesystem::path& folder);
void check_limits(Findings& findings);
void check_kernel(Findings& findings);
void check_gpu(Findings& findings);

}  // namespace uctrace::cli::check
