// Settings of a process: which names are taken, and where they come from (docs/log-format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace uctrace::log {

// Where a setting comes from; `id` of its Text. Those of the environment are TextKind::environment.
enum class SettingFrom : std::uint8_t {
  environment = 0,
  mpi_file = 1,  // a file of parameters of Open MPI, PMIx or PRRTE
  ucx_file = 2,  // a ucx.conf
  system = 3,    // the kernel's, and limits of the process
  // Not settings, but what UCT answered when UCX queried its resources:
  offered = 4,    // TRANSPORT=DEVICE
  component = 5,  // COMPONENT=number of its memory domains: UCT's modules
  kCount
};

// Variables with these prefixes are settings of UCX, of an MPI or of a launcher.
inline constexpr std::string_view kSettingPrefixes[] = {
    "UCX_",           "OMPI_MCA_",      "PRTE_MCA_",      "PMIX_MCA_",
    "MPIR_",  // MPIR_CVAR_ among them
    "MPICH_",         "I_MPI_",         "HYDRA_",         "MPIEXEC_",
    "SLURM_MPI_TYPE", "SLURM_CPU_BIND", "SLURM_MEM_BIND", "SLURM_DISTRIBUTION",
};

// Variables that may give access to a job are never taken.
inline constexpr std::string_view kSecretWords[] = {
    "SECRET", "PASSW", "TOKEN", "CREDENTIAL", "PRIVATE", "AUTH", "PRECONDITION_TRANSPORTS",
};

// The text before a place in it, and from there on. Not by string_view's own function, which could
// throw: there are no exceptions in a job.
constexpr std::string_view before(std::string_view text, std::size_t end) {
  return {text.data(), end < text.size() ? end : text.size()};
}
constexpr std::string_view behind(std::string_view text, std::size_t begin) {
  const std::size_t at = begin < text.size() ? begin : text.size();
  return {text.data() + at, text.size() - at};
}

constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

constexpr bool has_word(std::string_view name, std::string_view word) {
  for (std::size_t at = 0; at + word.size() <= name.size(); ++at) {
    std::size_t same = 0;
    while (same < word.size() && upper(name[at + same]) == word[same]) ++same;
    if (same == word.size()) return true;
  }
  return false;
}

// The name of a variable, up to its '='.
constexpr bool is_secret(std::string_view name) {
  for (const std::string_view word : kSecretWords) {
    if (has_word(name, word)) return true;
  }
  return false;
}

constexpr bool is_setting(std::string_view name) {
  for (const std::string_view prefix : kSettingPrefixes) {
    if (before(name, prefix.size()) == prefix) return !is_secret(name);
  }
  return false;
}

}  // namespace uctrace::log
