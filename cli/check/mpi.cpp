#include "cli/check/mpi.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>

#include "cli/check/child.hpp"

namespace uctrace::cli::check {
namespace {

namespace fs = std::filesystem;

// Texts inside each MPI's library. The first one found counts, so derived MPIs come before the one
// that they derive from.
struct Mark {
  const char* text;
  MpiKind kind;
  const char* name;
};
constexpr std::array<Mark, 6> kMarks = {{{"Open MPI repo revision", MpiKind::open_mpi, "Open MPI"},
                                         {"Intel(R) MPI Library", MpiKind::mpich, "Intel MPI"},
                                         {"MVAPICH", MpiKind::mpich, "MVAPICH"},
                                         {"CRAY MPICH", MpiKind::mpich, "Cray MPICH"},
                                         {"ParaStation MPI", MpiKind::other, "ParaStation MPI"},
                                         {"MPICH Version", MpiKind::mpich, "MPICH"}}};
constexpr std::array<const char*, 5> kDevices = {"ch4:ucx", "ch4:ofi", "ch3:mrail", "ch3:nemesis",
                                                 "ch3:sock"};

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The tool beside the launcher, or in a bin folder above the library.
fs::path find_tool(const std::string& name, const fs::path& launcher, const fs::path& library) {
  std::vector<fs::path> folders;
  if (!launcher.empty()) folders.push_back(launcher.parent_path());
  std::error_code error;
  for (fs::path at = fs::canonical(library, error); at.has_relative_path();) {
    at = at.parent_path();
    folders.push_back(at / "bin");
  }
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / name, error)) return folder / name;
  }
  return {};
}

// The MPI library that the program or library `file` uses. Since Open MPI 6, libmpi and libmpi_abi
// are thin layers over libopen_mpi. Empty: none.
fs::path body_of(const fs::path& file) {
  std::string why;
  const auto libraries = libraries_of(file, why);
  if (!libraries) return {};
  for (const char* name : {"libopen_mpi.so", "libmpi.so"}) {
    const LoadedLibrary* body = find_library(*libraries, name);
    if (body != nullptr && !body->path.empty()) return body->path;
  }
  return {};
}

bool uses_library(const fs::path& tool, const fs::path& library) {
  std::error_code error;
  return fs::equivalent(body_of(tool), library, error);
}

std::string libucp_of(const fs::path& file) {
  std::string why;
  const auto libraries = libraries_of(file, why);
  const LoadedLibrary* ucp = libraries ? find_ucx(*libraries, "libucp") : nullptr;
  return ucp != nullptr ? ucp->path.string() : "";
}

// "mca:pml:ucx:param:pml_ucx_tls:value:any" -> settings["pml_ucx_tls"] = "any".
void ask_open_mpi(Mpi& mpi) {
  const std::string tool = mpi.info_tool.string();
  const ChildResult told = run_child({tool, "--parsable", "--level", "9", "--param", "pml", "all"});
  for (const std::string& line : lines_of(told.out)) {
    const std::size_t param = line.find(":param:"), value = line.find(":value:");
    const std::size_t source = line.find(":source:");
    if (line.starts_with("mca:pml:ucx:")) mpi.has_pml_ucx = true;
    if (param != std::string::npos && value != std::string::npos &&
        line.find(":enumerator:") == std::string::npos) {
      mpi.settings[line.substr(param + 7, value - param - 7)] = line.substr(value + 7);
    }
    if (line.starts_with("mca:pml:base:param:pml:source:"))
      mpi.pml_source = line.substr(source + 8);
    constexpr const char* kVersion = "version:\"component:";
    if (const std::size_t at = line.find(kVersion);
        at != std::string::npos && line.starts_with("mca:pml:ob1:")) {
      const std::size_t first = at + std::char_traits<char>::length(kVersion);
      mpi.name = "Open MPI " + line.substr(first, line.rfind('"') - first);
    }
  }
  const ChildResult path = run_child({tool, "--parsable", "--path", "pkglibdir"});
  for (const std::string& line : lines_of(path.out)) {
    if (!line.starts_with("path:pkglibdir:")) continue;
    const fs::path component = fs::path(line.substr(15)) / "mca_pml_ucx.so";
    if (mpi.libucp.empty() && fs::exists(component)) mpi.libucp = libucp_of(component);
  }
}

Mpi identify(const fs::path& library, const fs::path& launcher) {
  Mpi mpi;
  mpi.name = "an MPI that uctrace does not know";
  mpi.library = library;
  const fs::path below = body_of(library);
  const fs::path& body = below.empty() ? library : below;
  const std::string text = text_of_file(body);
  for (const Mark& mark : kMarks) {
    if (text.find(mark.text) == std::string::npos) continue;
    mpi.kind = mark.kind;
    mpi.name = mark.name;
    break;
  }
  mpi.libucp = libucp_of(library);
  if (mpi.kind == MpiKind::open_mpi) {
    const fs::path tool = find_tool("ompi_info", launcher, library);
    if (!tool.empty() && uses_library(tool, body)) {
      mpi.info_tool = tool;
      ask_open_mpi(mpi);
    }
    return mpi;
  }
  for (const char* device : kDevices) {
    if (text.find(device) == std::string::npos) continue;
    mpi.name += std::string(" (") + device + ")";
    break;
  }
  return mpi;
}

}  // namespace

std::optional<Mpi> mpi_of(const std::vector<LoadedLibrary>& libraries, const fs::path& launcher) {
  // Open MPI 6's own programs have only the last one.
  for (const char* name : {"libmpi.so", "libmpich.so", "libmpi_", "libmpich_", "libpmpi.so",
                           "libpmpi_abi.so", "libopen_mpi.so"}) {
    const LoadedLibrary* library = find_library(libraries, name);
    // Not the bindings of Fortran and C++: the library itself is listed as well.
    if (library == nullptr || library->path.empty() || library->name.starts_with("libmpi_mpifh") ||
        library->name.starts_with("libmpi_usempi") || library->name.starts_with("libmpi_cxx")) {
      continue;
    }
    return identify(library->path, launcher);
  }
  return std::nullopt;
}

std::optional<Mpi> mpi_of_launcher(const Launcher& launcher) {
  if (launcher.path.empty()) return std::nullopt;
  std::string why;
  for (const char* name : {"ompi_info", "mpichversion", "impi_info"}) {
    const fs::path tool = launcher.path.parent_path() / name;
    std::error_code error;
    const bool fits =
        launcher.kind == launcher::Kind::none ||
        (launcher.kind == launcher::Kind::open_mpi) == (tool.filename() == "ompi_info");
    if (!fits || !fs::exists(tool, error)) continue;
    const auto libraries = libraries_of(tool, why);
    if (!libraries) continue;
    if (std::optional<Mpi> mpi = mpi_of(*libraries, launcher.path)) return mpi;
  }
  return std::nullopt;
}

std::vector<Mpi> mpis_of_machine() {
  std::vector<Mpi> mpis;
  std::set<fs::path> seen;
  for (const char* name : {"mpirun.openmpi", "mpiexec.mpich", "mpirun", "mpiexec"}) {
    const Launcher launcher = as_launcher(name);
    if (launcher.path.empty() || !seen.insert(launcher.path).second) continue;
    const std::optional<Mpi> mpi = mpi_of_launcher(launcher);
    if (!mpi) continue;
    const bool known = std::any_of(mpis.begin(), mpis.end(),
                                   [&](const Mpi& other) { return other.library == mpi->library; });
    if (!known) mpis.push_back(*mpi);
  }
  return mpis;
}

}  // namespace uctrace::cli::check
