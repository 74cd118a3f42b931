// Identifies the MPI of a library and its configuration.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/check/elf_file.hpp"
#include "cli/check/target.hpp"

namespace uctrace::cli::check {

enum class MpiKind { open_mpi, mpich, other };

struct Mpi {
  MpiKind kind = MpiKind::other;
  std::string name;               // "Open MPI 4.1.4", "MPICH (ch4:ucx)", "Intel MPI"
  std::filesystem::path library;  // libmpi
  std::string libucp;             // the UCX that it would load; empty: none
  // Open MPI: its ompi_info (empty: not found) and the settings that it printed.
  std::filesystem::path info_tool;
  bool has_pml_ucx = false;
  std::map<std::string, std::string> settings;  // "pml", "pml_ucx_tls", ... as they would be used
  std::string pml_source;                       // where the value of "pml" comes from
};

// From a list of libraries that a program loads; nullopt if there is no MPI among them. `launcher`
// may be empty.
std::optional<Mpi> mpi_of(const std::vector<LoadedLibrary>& libraries,
                          const std::filesystem::path& launcher);

// The MPIs whose launchers are in PATH.
std::vector<Mpi> mpis_of_machine();

// The MPI that a launcher belongs to.
std::optional<Mpi> mpi_of_launcher(const Launcher& launcher);

}  // namespace uctrace::cli::check
