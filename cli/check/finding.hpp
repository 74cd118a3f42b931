// The findings of `uctrace check`, one per line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace uctrace::cli::check {

enum class Grade : std::uint8_t { ok, warning, problem };

const char* name_of(Grade grade);

// Possible problems, by the names under which docs/troubleshooting.md explains them. The part
// before the first '-' is the subject.
struct Trouble {
  const char* id;
};

inline constexpr Trouble kLibraryMissing{"library-missing"};
inline constexpr Trouble kLibraryNotLoaded{"library-not-loaded"};
inline constexpr Trouble kLibraryPath{"library-path"};
inline constexpr Trouble kProgramMissing{"program-missing"};
inline constexpr Trouble kProgramNotExecutable{"program-not-executable"};
inline constexpr Trouble kProgramStatic{"program-static"};
inline constexpr Trouble kProgramForeign{"program-foreign"};
inline constexpr Trouble kProgramPrivileged{"program-privileged"};
inline constexpr Trouble kProgramLibraries{"program-libraries"};
inline constexpr Trouble kProgramSanitizer{"program-sanitizer"};
inline constexpr Trouble kProgramNoMpi{"program-no-mpi"};
inline constexpr Trouble kProgramHasMpiInside{"program-mpi-inside"};
inline constexpr Trouble kMpiNone{"mpi-none"};
inline constexpr Trouble kMpiWithoutUcx{"mpi-without-ucx"};
inline constexpr Trouble kMpiNotUcx{"mpi-not-ucx"};
inline constexpr Trouble kMpiUcxRefused{"mpi-ucx-refused"};
inline constexpr Trouble kMpiOtherLauncher{"mpi-other-launcher"};
inline constexpr Trouble kMpiUnknown{"mpi-unknown"};
inline constexpr Trouble kMpiNotAsked{"mpi-not-asked"};
inline constexpr Trouble kUcxMissing{"ucx-missing"};
inline constexpr Trouble kUcxVersion{"ucx-version"};
inline constexpr Trouble kUcxMixed{"ucx-mixed"};
inline constexpr Trouble kTrialMissing{"trial-missing"};
inline constexpr Trouble kTrialFailed{"trial-failed"};
inline constexpr Trouble kTrialNotRecorded{"trial-not-recorded"};
inline constexpr Trouble kTrialAccounts{"trial-accounts"};
inline constexpr Trouble kClockSlow{"clock-slow"};
inline constexpr Trouble kClockNotSynchronised{"clock-not-synchronised"};
inline constexpr Trouble kFolderTaken{"folder-taken"};
inline constexpr Trouble kFolderUnwritable{"folder-unwritable"};
inline constexpr Trouble kFolderFull{"folder-full"};
inline constexpr Trouble kFolderSpace{"folder-space"};
inline constexpr Trouble kFolderQuota{"folder-quota"};
inline constexpr Trouble kFolderNetwork{"folder-network"};
inline constexpr Trouble kFolderNoReserve{"folder-no-reserve"};
inline constexpr Trouble kLimitsFiles{"limits-files"};
inline constexpr Trouble kLimitsMemory{"limits-memory"};
inline constexpr Trouble kLimitsFileSize{"limits-file-size"};
inline constexpr Trouble kLimitsLocked{"limits-locked-memory"};
inline constexpr Trouble kLimitsSharedMemory{"limits-shared-memory"};
inline constexpr Trouble kKernelOld{"kernel-old"};
inline constexpr Trouble kKernelNoProc{"kernel-no-proc"};
inline constexpr Trouble kKernelNoCma{"kernel-no-cma"};
inline constexpr Trouble kGpuNoTopology{"gpu-no-topology"};

struct Finding {
  Grade grade = Grade::ok;
  std::string subject;
  std::string id;  // of the problem, empty if ok
  std::string found;
  std::string why, fix;  // its consequence, and what to type or change; empty if ok
};

// The parts of a problem, passed by name because all are texts.
struct Told {
  std::string found, why, fix;
};

class Findings {
 public:
  void ok(const std::string& subject, const std::string& found);
  void warning(const Trouble& trouble, Told told);
  void problem(const Trouble& trouble, Told told);
  void add(Grade grade, const Trouble& trouble, Told told);

  const std::vector<Finding>& all() const { return all_; }
  Grade worst() const;

 private:
  std::vector<Finding> all_;
};

}  // namespace uctrace::cli::check
