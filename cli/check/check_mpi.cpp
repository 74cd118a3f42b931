// Whether an MPI uses UCX here. Open MPI decides at run time from lists of transports and devices.
// The same decision is made here from the output of ompi_info and UCX, and marked as an
// expectation. Other MPIs are built for one network module.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "cli/check/checks.hpp"
#include "log-merger/folder/launcher_line.hpp"

namespace uctrace::cli::check {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 9> kUcxOptions = {
    "--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"};

// How much of Open MPI's requirements this machine has.
enum class Support { none, transports, devices };

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

// A list such as "rc_verbs,rc_mlx5" or "any"; "^a,b" means all but these.
bool is_listed(const std::string& list, const std::string& name, bool patterns) {
  const bool negated = list.starts_with('^');
  for (const std::string& word : split(negated ? list.substr(1) : list)) {
    const bool same = patterns ? fnmatch(word.c_str(), name.c_str(), 0) == 0 : word == name;
    if (word == "any" || same) return !negated;
  }
  return negated;
}

// The kernel driver of "mlx5_0:1", empty if it is not such a device.
std::string driver_of(const std::string& device) {
  std::error_code error;
  const std::string name = device.substr(0, device.find(':'));
  return fs::read_symlink("/sys/class/infiniband/" + name + "/device/driver", error)
      .filename()
      .string();
}

Support support_of(const UcxFacts& ucx, const std::string& transports, const std::string& devices) {
  Support support = Support::none;
  for (const std::string& resource : ucx.transports) {
    const std::size_t slash = resource.find('/');
    if (!is_listed(transports, resource.substr(0, slash), false)) continue;
    const std::string driver = driver_of(resource.substr(slash + 1));
    const bool device = devices == "any" || (!driver.empty() && is_listed(devices, driver, true));
    support = std::max(support, device ? Support::devices : Support::transports);
  }
  return support;
}

std::string setting(const Mpi& mpi, const std::string& name, const std::string& otherwise) {
  const auto found = mpi.settings.find(name);
  return found == mpi.settings.end() || found->second.empty() ? otherwise : found->second;
}

// The user's line with the options added after its launcher; without a line, a pattern.
std::string line_with_ucx(const Target& target) {
  if (!target.launcher.is_one) {
    if (!target.command.empty()) {
      return "export OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any";
    }
    return fmt::format("mpirun {} ...", shell_line({kUcxOptions.begin(), kUcxOptions.end()}));
  }
  std::vector<std::string> line;
  const auto& words = target.command;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool replaced = (words[i] == "--mca" || words[i] == "-mca") && i + 2 < words.size() &&
                          (words[i + 1] == "pml" || words[i + 1] == "pml_ucx_tls" ||
                           words[i + 1] == "pml_ucx_devices");
    if (replaced) {
      i += 2;
      continue;
    }
    line.push_back(words[i]);
    if (i == target.launcher_at) line.insert(line.end(), kUcxOptions.begin(), kUcxOptions.end());
  }
  return shell_line(line);
}

void check_open_mpi(Findings& findings, const Mpi& mpi, const UcxFacts& ucx, const Target& target) {
  // A job given by name must have its messages recorded; on a machine in general, other jobs may
  // run.
  const Grade grade = target.command.empty() ? Grade::warning : Grade::problem;
  if (mpi.info_tool.empty()) {
    findings.warning(
        kMpiNotAsked,
        {.found = "whether this Open MPI uses UCX is not known: " + mpi.library.string(),
         .why = "its ompi_info is neither beside the launcher nor above the library",
         .fix = line_with_ucx(target)});
    return;
  }
  if (!mpi.has_pml_ucx) {
    findings.add(grade, kMpiWithoutUcx,
                 {.found = mpi.name + " has no pml/ucx",
                  .why = "it was built without UCX; its MPI calls are recorded, without messages",
                  .fix = "use an Open MPI that was configured --with-ucx"});
    return;
  }
  const std::string pml = setting(mpi, "pml", "");
  const std::string transports = setting(mpi, "pml_ucx_tls", "any");
  const std::string devices = setting(mpi, "pml_ucx_devices", "any");
  const Support support = support_of(ucx, transports, devices);
  const std::string source = mpi.pml_source.empty() ? "" : " from " + mpi.pml_source;
  if (!pml.empty() && !is_listed(pml, "ucx", false)) {
    findings.add(grade, kMpiNotUcx,
                 {.found = mpi.name + " will not use UCX",
                  .why = fmt::format("its setting pml={}{} excludes it", pml, source),
                  .fix = line_with_ucx(target)});
  } else if (support == Support::none && pml.starts_with("ucx")) {
    findings.add(
        grade, kMpiUcxRefused,
        {.found = mpi.name + " will stop: pml=ucx is asked for and refuses to start",
         .why = fmt::format("no transport of UCX here is among pml_ucx_tls={}", transports),
         .fix = line_with_ucx(target)});
  } else if (support != Support::devices && !pml.starts_with("ucx")) {
    findings.add(grade, kMpiNotUcx,
                 {.found = mpi.name + " is expected not to use UCX",
                  .why = fmt::format("UCX has nothing here of pml_ucx_tls={} on pml_ucx_devices={}",
                                     transports, devices),
                  .fix = line_with_ucx(target)});
  } else {
    findings.ok("mpi", fmt::format("{} is expected to use UCX (pml={}, pml_ucx_tls={}, "
                                   "pml_ucx_devices={})",
                                   mpi.name, pml.empty() ? "any" : pml, transports, devices));
  }
}

void check_other(Findings& findings, const Mpi& mpi, const Target& target) {
  if (mpi.kind == MpiKind::other) {
    findings.warning(kMpiUnknown,
                     {.found = mpi.name + ": " + mpi.library.string(),
                      .why = "its binary interface was not looked at; UCX itself is recorded",
                      .fix = "docs/contributing.md says how to add an MPI"});
    return;
  }
  if (!mpi.libucp.empty()) {
    findings.ok("mpi", fmt::format("{} uses UCX: {}", mpi.name, mpi.library.string()));
    return;
  }
  findings.add(target.command.empty() ? Grade::warning : Grade::problem, kMpiWithoutUcx,
               {.found = mpi.name + " is not built on UCX: " + mpi.library.string(),
                .why = "its MPI calls are recorded, without messages",
                .fix = mpi.name.starts_with("Intel")
                           ? "where its libfabric has the mlx provider: export FI_PROVIDER=mlx"
                           : "use an MPI that is built on UCX, as MPICH with "
                             "--with-device=ch4:ucx"});
}

}  // namespace

void check_mpi(Findings& findings, const Mpi& mpi, const UcxFacts& ucx, const Target& target) {
  const bool is_open_mpi = mpi.kind == MpiKind::open_mpi;
  const launcher::Kind kind = target.launcher.kind;
  if ((kind == launcher::Kind::open_mpi && !is_open_mpi) ||
      (kind == launcher::Kind::hydra && is_open_mpi)) {
    findings.problem(
        kMpiOtherLauncher,
        {.found = fmt::format("{} is the launcher of another MPI than the program's, {}",
                              target.launcher.word, mpi.name),
         .why = "each process would take itself for the only rank",
         .fix = is_open_mpi ? "use mpirun of Open MPI (mpirun.openmpi)"
                            : "use mpiexec of MPICH (mpiexec.mpich)"});
  }
  if (is_open_mpi) {
    check_open_mpi(findings, mpi, ucx, target);
  } else {
    check_other(findings, mpi, target);
  }
}

}  // namespace uctrace::cli::check
