#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/check/checks.hpp"
#include "cli/installation.hpp"
#include "device-attributor/vendor-facts/vendor_facts.hpp"

namespace uctrace::cli::check {
namespace {

namespace fs = std::filesystem;

// An empty range beyond every descriptor: nothing is closed.
bool has_close_range() {
#ifdef SYS_close_range
  return syscall(SYS_close_range, ~0u, ~0u, 0) == 0 || errno != ENOSYS;
#else
  return false;
#endif
}

bool has_populate() {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool has = madvise(page, bytes, kPopulateWrite) == 0;
  munmap(page, bytes);
  return has;
}

// Containers are recognised by traces of their tools; none of these is certain.
std::string container() {
  if (fs::exists("/.dockerenv")) return "Docker";
  if (fs::exists("/run/.containerenv")) return "Podman";
  if (fs::exists("/.singularity.d")) return "Apptainer";
  return "";
}

void check_release(Findings& findings) {
  utsname name{};
  uname(&name);
  const std::string inside = container();
  const std::string found = fmt::format("Linux {}{}", name.release,
                                        inside.empty() ? "" : ", in a container of " + inside);
  const bool has_range = has_close_range();
  if (has_range || unshare(CLONE_FILES) == 0) {
    findings.ok("kernel", fmt::format("{}; close_range {}, MADV_POPULATE_WRITE {}", found,
                                      has_range ? "yes" : "no (files are closed one by one)",
                                      has_populate() ? "yes" : "no (pages are written instead)"));
    return;
  }
  findings.warning(kKernelOld,
                   {.found = found + " allows neither close_range nor unshare",
                    .why = "a program that closes all files may close the log's: its records are "
                           "then lost, or end in a file that the program opens next",
                    .fix = "use Linux 5.9 or newer, or a container profile that allows it"});
}

// Does what UCX's cma does: one process reads the memory of another that is not its child. The
// child reads its parent's, which is the direction that ptrace_scope forbids. Returns 0 or errno.
int read_other_process() {
  static const char kMark[] = "uctrace";
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    char copy[sizeof kMark] = {};
    const iovec local = {copy, sizeof copy};
    const iovec remote = {const_cast<char*>(kMark), sizeof kMark};
    const ssize_t got = process_vm_readv(parent, &local, 1, &remote, 1, 0);
    _exit(got == static_cast<ssize_t>(sizeof copy) ? 0 : errno);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

void check_cma(Findings& findings) {
  const int error = read_other_process();
  if (error == 0) {
    findings.ok("kernel", "processes may read each other's memory: UCX can use cma");
    return;
  }
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  findings.warning(
      kKernelNoCma,
      {.found =
           fmt::format("processes may not read each other's memory: {}{}", std::strerror(error),
                       scope == 0 ? "" : fmt::format(" (ptrace_scope {})", scope)),
       .why = "UCX goes without cma: large messages within a host are copied twice, through shared "
              "memory",
       .fix = scope != 0 ? "as root: sysctl kernel.yama.ptrace_scope=0"
                         : "give the container the capability: --cap-add=SYS_PTRACE"});
}

void check_proc(Findings& findings) {
  if (has_proc()) return;
  findings.warning(
      kKernelNoProc,
      {.found = "there is no /proc here",
       .why = "UCX asks it for the boot and does not start without; and logs do not say "
              "when and where their processes started: whether a job still runs is "
              "not known to who reads them",
       .fix = "mount -t proc proc /proc, as root, or a container that has it"});
}

}  // namespace

void check_kernel(Findings& findings) {
  check_proc(findings);
  check_release(findings);
  check_cma(findings);
}

namespace {

// The installed kernel part of its driver; empty: nothing.
std::string installed_of(const gpu::VendorFacts& vendor) {
  std::error_code error;
  for (const char* file : vendor.installed) {
    if (file != nullptr && fs::exists(file, error)) return file;
  }
  return "";
}

void check_topology_program(Findings& findings) {
  if (!find_topology_program().empty()) return;
  findings.warning(
      kGpuNoTopology,
      {.found = "uctrace was built without hwloc",
       .why = "how far GPUs are from network cards will not be known",
       .fix = "install hwloc's headers (Debian: libhwloc-dev) and build uctrace again"});
}

}  // namespace

void check_gpu(Findings& findings) {
  bool any = false;
  for (const gpu::VendorFacts& vendor : gpu::kVendorFacts) {
    const std::string found = installed_of(vendor);
    if (found.empty()) continue;
    any = true;
    findings.ok("gpu", fmt::format("the kernel has a driver for GPUs of {} ({}): {} is asked on "
                                   "which GPU data lies if the program loads it",
                                   vendor.title, found, vendor.title));
  }
  if (any) {
    check_topology_program(findings);
  } else {
    findings.ok("gpu", "no GPU driver: all memory is host memory");
  }
}

}  // namespace uctrace::cli::check
