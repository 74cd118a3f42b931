// Tells a signal that the whole process group got from one that was sent to this process alone.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <filesystem>

namespace uctrace::cli {

// The kernel does not say whom a signal was sent to besides, so a child of this process stays in
// its group and takes no part in anything: what it got as well, the group got. If this process is
// killed, the child removes a folder and ends.
class GroupWitness {
 public:
  // Call with all signals blocked, from a process of one thread. `folder` may be empty.
  explicit GroupWitness(const std::filesystem::path& folder);
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;
  ~GroupWitness();

  // Whether the group got this signal, which has just been taken. Who signals a group one process
  // at a time, as batch systems do, is waited for: 20 ms. Without a witness, only what a terminal
  // sends is known to go to the group.
  bool saw(const siginfo_t& signal);

 private:
  void dismiss();

  int channel_ = -1;
  pid_t pid_ = -1;
};

}  // namespace uctrace::cli
