#include "cli/installation.hpp"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>

#include "event-log/reader/error.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libuctrace.so";
constexpr const char* kGpuHistory = "libuctrace-cupti.so";
constexpr const char* kSelfTest = "uctrace-ucx-test";
constexpr const char* kTopologyProgram = "uctrace-topology";
constexpr const char* kPatch = "ucx-hooks.patch";

fs::path own_folder() { return own_program().parent_path(); }

// An internal program of ours; empty if there is none.
fs::path find_own_program(const char* name) {
  const fs::path bin = own_folder();
  std::error_code error;
  for (const fs::path& folder : {bin, bin.parent_path() / "libexec" / "uctrace"}) {
    if (fs::exists(folder / name, error)) return folder / name;
  }
  return {};
}

}  // namespace

// The kernel's link names the real file, even if it was started through a symbolic link. Without
// /proc, use the name by which it was started, relative to the folder at that time.
fs::path own_program() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) return program;
  const auto* name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  program = fs::canonical(name != nullptr ? name : "", error);
  if (!error) return program;
  throw Error({.what = "cannot find the files of uctrace",
               .why = "there is no /proc here, which tells where this program lies",
               .to_do = "mount it (mount -t proc proc /proc), or start uctrace by its whole path"});
}

bool has_proc() { return access("/proc/self/stat", R_OK) == 0; }

fs::path find_preload_library() {
  const fs::path bin = own_folder();
  for (const fs::path& folder : {bin, bin.parent_path()}) {
    if (fs::exists(folder / kLibrary)) return folder / kLibrary;
  }
  std::error_code error;
  for (const fs::directory_entry& lib : fs::directory_iterator(bin.parent_path(), error)) {
    if (!lib.path().filename().string().starts_with("lib")) continue;
    if (fs::exists(lib.path() / "uctrace" / kLibrary, error)) {
      return lib.path() / "uctrace" / kLibrary;
    }
    for (const fs::directory_entry& triplet : fs::directory_iterator(lib.path(), error)) {
      const fs::path library = triplet.path() / "uctrace" / kLibrary;
      if (fs::exists(library, error)) return library;
    }
  }
  throw Error(
      {.what = "cannot record",
       .why = fmt::format("{} is neither beside this program nor in ../lib*/uctrace", kLibrary),
       .to_do = "build or install uctrace again"});
}

fs::path find_gpu_history() {
  const char* named = std::getenv("UCTRACE_GPU_HISTORY");
  const fs::path library =
      named != nullptr ? fs::absolute(named) : find_preload_library().parent_path() / kGpuHistory;
  if (fs::exists(library)) return library;
  throw Error({.what = "cannot record the history of GPU memory",
               .why = fmt::format("there is no {}", library.string()),
               .to_do = "build uctrace with -Dcupti=DIR, where DIR is a CUDA toolkit, or record "
                        "without --gpu-history: memory is attributed all the same"});
}

fs::path find_self_test() { return find_own_program(kSelfTest); }

fs::path find_topology_program() { return find_own_program(kTopologyProgram); }

fs::path find_ucx_patch() {
  const fs::path bin = own_folder();
  std::error_code error;
  for (const fs::path& folder :
       {bin / "patches", bin.parent_path() / "share" / "uctrace" / "patches"}) {
    if (fs::exists(folder / kPatch, error)) return folder / kPatch;
  }
  throw Error({.what = "cannot patch UCX",
               .why = fmt::format("{} is neither in patches/ beside this program nor in "
                                  "../share/uctrace/patches",
                                  kPatch),
               .to_do = "build or install uctrace again"});
}

}  // namespace uctrace::cli
