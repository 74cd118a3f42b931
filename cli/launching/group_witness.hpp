// Distinguishes a signal to the whole process group from one sent to this process alone.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <filesystem>

namespace uctrace::cli {

// The kernel does not tell who else received a signal. So an idle child of this process stays in
// its group: a signal that the child received, too, went to the group. If this process is killed,
// the child removes a folder and ends.
class GroupWitness {
 public:
  // Call with all signals blocked, from a process of one thread. `folder` may be empty.
  explicit GroupWitness(const std::filesystem::path& folder);
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;
  ~GroupWitness();

  // Whether the group got this signal, which was just taken. Waits 20 ms, because batch systems
  // signal a group one process at a time. Without a witness, only signals from a terminal are known
  // to go to the group.
  bool saw(const siginfo_t& signal);

 private:
  void dismiss();

  int channel_ = -1;
  pid_t pid_ = -1;
};

}  // namespace uctrace::cli
