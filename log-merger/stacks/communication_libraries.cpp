#include "log-merger/stacks/communication_libraries.hpp"

#include <algorithm>
#include <iterator>

#include "ucx-facts/library_names.hpp"

namespace uctrace::merge {
namespace {

// The names of files, up to the ".so", besides those of UCX. A * at the end matches any rest.
constexpr std::string_view kNames[] = {
    // Open MPI
    "libmpi", "libmpi++", "libmpi_cxx", "libmpi_java", "libmpi_mpifh", "libmpi_mpifh-*",
    "libmpi_usempi", "libmpi_usempi_ignore_tkr", "libmpi_usempi_ignore_tkr-*", "libmpi_usempif08",
    "libmpi_usempif08-*", "libmpi_f77", "libmpi_f90", "libmpi_ibm", "libopen_mpi", "libopen-pal",
    "libopen-rte", "liboshmem", "libompitrace", "libmca_common_*", "mca_*",
    // The standard ABI of MPI 5, by its own names and by those of Debian
    "libmpi_abi", "libpmpi_abi", "libmpifort_abi", "libmpi_abi_openmpi", "libmpi_abi_mpich",
    // MPICH and what is made of it
    "libpmpi", "libmpich", "libmpichcxx", "libmpichf90", "libmpichfort", "libfmpich", "libmpicxx",
    "libmpifort", "libmpi_ilp64", "libmpi_mt", "libmpi_cray", "libmpi_gnu_*", "libmpi_intel",
    "libmpi_nvidia", "libmpi_amd", "libmpi_aocc", "libmpifort_cray", "libmpifort_gnu_*",
    "libmpifort_intel", "libmpifort_nvidia", "libmpifort_amd", "libmpifort_aocc", "libmpl",
    "libopa",
    // UCC and its layers
    "libucc", "libucc_*",
    // Others beneath MPI
    "libfabric", "libpsm2", "libpsm3", "libpsm_infinipath",
    // This one
    "libuctrace"};

// Python's packages bring libraries with a hash in their names: libmpi-1a2b3c4d.so.40.
std::string_view without_hash(std::string_view name) {
  constexpr std::size_t kDigits = 8;
  if (name.size() <= kDigits || name[name.size() - kDigits - 1] != '-') return name;
  const std::string_view hash = name.substr(name.size() - kDigits);
  if (hash.find_first_not_of("0123456789abcdef") != std::string_view::npos) return name;
  return name.substr(0, name.size() - kDigits - 1);
}

bool is_named(std::string_view name, std::string_view known) {
  if (!known.ends_with('*')) return name == known;
  return name.starts_with(known.substr(0, known.size() - 1));
}

}  // namespace

bool is_communication_library(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (ucx::is_of_ucx(file)) return true;
  const std::size_t end = file.find(".so");
  if (end == std::string_view::npos) return false;
  const std::string_view name = without_hash(file.substr(0, end));
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view known) { return is_named(name, known); });
}

}  // namespace uctrace::merge
