#include "launcher-line/identify.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "launcher-line/editor.hpp"

namespace uctrace::launcher {
namespace {

struct Name {
  std::string_view name;
  Kind kind;
};

constexpr Name kNames[] = {
    {"mpirun.openmpi", Kind::open_mpi}, {"mpiexec.openmpi", Kind::open_mpi},
    {"orterun", Kind::open_mpi},        {"prterun", Kind::open_mpi},
    {"oshrun", Kind::open_mpi},         {"shmemrun", Kind::open_mpi},
    {"prun", Kind::open_mpi},           {"mpiexec.hydra", Kind::hydra},
    {"mpirun.mpich", Kind::hydra},      {"mpiexec.mpich", Kind::hydra},
    {"mpirun.hydra", Kind::hydra},      {"srun", Kind::slurm},
};

Kind kind_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const Name& known) { return known.name == name; });
  return found != std::end(kNames) ? found->kind : Kind::none;
}

bool is_shared_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  return name == "mpirun" || name == "mpiexec";
}

Kind kind_of_version(std::string_view text) {
  for (const char* word : {"Open MPI", "OpenRTE", "PRRTE", "prterun"}) {
    if (text.find(word) != std::string_view::npos) return Kind::open_mpi;
  }
  for (const char* word : {"HYDRA", "Intel(R) MPI", "MVAPICH"}) {
    if (text.find(word) != std::string_view::npos) return Kind::hydra;
  }
  return Kind::none;
}

}  // namespace

const OptionTable* option_table(Kind kind) {
  switch (kind) {
    case Kind::open_mpi:
      return &open_mpi_options();
    case Kind::hydra:
      return &hydra_options();
    case Kind::slurm:
      return &slurm_options();
    case Kind::none:
      break;
  }
  return nullptr;
}

Kind identify(const std::string& program, const Programs& programs) {
  if (const Kind kind = kind_of(program); kind != Kind::none) return kind;
  const std::string file = programs.resolved(program);
  if (const Kind kind = kind_of(file); kind != Kind::none) return kind;
  if (!is_shared_name(program) && !is_shared_name(file)) return Kind::none;
  return kind_of_version(programs.version(program));
}

}  // namespace uctrace::launcher
