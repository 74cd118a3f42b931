// hwloc examines the node in a separate program: this library then needs no hwloc, and hwloc's
// plug-ins, which ask drivers, stay out of the process.
//
// The traced program must not notice. Its wait() must not see a child: so the child is of the kind
// that only __WCLONE finds, and sends no signal. execve(2) would turn it into a usual child, so the
// separate program is the child's child. The three processes share memory, and only one runs at a
// time: no fork handler is called, nothing is copied, and the thread here sleeps meanwhile.
#include "device-attributor/topology.hpp"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

#include "event-log/recorder/once_per_log.hpp"
#include "event-log/recorder/open_files.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::gpu {

namespace {

constexpr char kSuffix[] = ".topology.xml";

// The variables that hwloc may need. LD_PRELOAD is not one.
constexpr const char* kPassedOn[] = {"HWLOC_XMLFILE", "HWLOC_FSROOT", "LD_LIBRARY_PATH"};
constexpr std::size_t kMostPassedOn = std::size(kPassedOn);

// Copied in advance: other threads may change the environment afterwards.
struct Request {
  char program[PATH_MAX];
  char file[PATH_MAX];
  char claim[PATH_MAX];
  char variables[kMostPassedOn][2 * PATH_MAX];
  std::size_t variable_count;
};
constinit Request request{};
constinit log::OncePerLog asked;

constexpr std::size_t kStack = 16 * 1024;

// The state of the program; shared by the processes, one of which runs at a time.
struct ChildProgram {
  char* arguments[3] = {};
  char* environment[kMostPassedOn + 2] = {};
  int error = 0;   // errno where it could not be started
  int status = 0;  // as of wait()
  alignas(16) char stack_of_child[kStack];
  alignas(16) char stack_of_program[kStack];  // until its execve()
};

// Starts a process that shares this one's memory, and returns when it has ended or called execve().
// It sends no signal when it ends. -1: it could not be started.
int run_sharing_memory(int (*run)(void*), ChildProgram& child_program, char (&stack)[kStack]) {
  return clone(run, stack + kStack, CLONE_VM | CLONE_VFORK, &child_program);
}

int become_program(void* data) {
  auto& child_program = *static_cast<ChildProgram*>(data);
  log::leave_open_files();
  constexpr int kStandardFiles = 3;
  for (int i = 0; i < kStandardFiles; ++i) {
    syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
  }
  syscall(SYS_execve, child_program.arguments[0], child_program.arguments,
          child_program.environment);
  child_program.error = errno;
  return 1;
}

int wait_for_program(void* data) {
  auto& child_program = *static_cast<ChildProgram*>(data);
  // If the traced program ignores SIGCHLD, nothing could be waited for.
  const unsigned long by_default[8] = {};
  constexpr std::size_t kSignalSetBytes = 8;
  syscall(SYS_rt_sigaction, SIGCHLD, by_default, nullptr, kSignalSetBytes);
  const int program =
      run_sharing_memory(become_program, child_program, child_program.stack_of_program);
  if (program < 0) {
    child_program.error = errno;
    return 1;
  }
  while (syscall(SYS_wait4, program, &child_program.status, __WALL, nullptr) < 0 &&
         errno == EINTR) {
  }
  return 0;
}

void say_not_taken(int value, const char* why) {
  log::fault(log::Layer::gpu, log::FaultCode::topology_not_taken, value, why);
}

void say_how_it_ended(const ChildProgram& child_program) {
  char why[PATH_MAX + 128];
  if (child_program.error != 0) {
    snprintf(why, sizeof why, "%s could not be started (errno %d)", request.program,
             child_program.error);
    say_not_taken(child_program.error, why);
  } else if (WIFSIGNALED(child_program.status)) {
    snprintf(why, sizeof why, "%s was ended by signal %d", request.program,
             WTERMSIG(child_program.status));
    say_not_taken(WTERMSIG(child_program.status), why);
  } else if (WEXITSTATUS(child_program.status) != 0) {
    snprintf(why, sizeof why, "%s ended with status %d", request.program,
             WEXITSTATUS(child_program.status));
    say_not_taken(WEXITSTATUS(child_program.status), why);
  }
}

void run_program() {
  static char no_plug_ins[] = "HWLOC_PLUGINS_PATH=/dev/null";
  ChildProgram child_program;
  child_program.arguments[0] = request.program;
  child_program.arguments[1] = request.file;
  for (std::size_t i = 0; i < request.variable_count; ++i) {
    child_program.environment[i] = request.variables[i];
  }
  child_program.environment[request.variable_count] = no_plug_ins;
  const int child =
      run_sharing_memory(wait_for_program, child_program, child_program.stack_of_child);
  if (child < 0) {
    child_program.error = errno;
  } else {
    while (syscall(SYS_wait4, child, nullptr, __WCLONE, nullptr) < 0 && errno == EINTR) {
    }
  }
  say_how_it_ended(child_program);
}

// The process of the node that succeeds in making the file takes the topology. It makes the file
// without opening it: an open file would change the numbers of the program's next files.
void* take(void*) {
  if (access(request.file, F_OK) == 0) {
    return nullptr;
  }
  if (mknod(request.claim, S_IFREG | 0644, 0) != 0) {
    if (errno != EEXIST) say_not_taken(errno, "its file cannot be made beside the logs");
  } else {
    run_program();
  }
  return nullptr;
}

bool copy(const char* text, char* out, std::size_t size) {
  const int n = snprintf(out, size, "%s", text);
  return n > 0 && static_cast<std::size_t>(n) < size;
}

bool fill_request() {
  request.variable_count = 0;
  for (const char* name : kPassedOn) {
    const char* value = getenv(name);
    char* variable = request.variables[request.variable_count];
    constexpr std::size_t kSize = sizeof request.variables[0];
    const int n = value == nullptr ? 0 : snprintf(variable, kSize, "%s=%s", name, value);
    request.variable_count += n > 0 && static_cast<std::size_t>(n) < kSize;
  }
  // Not set: uctrace was built without hwloc, or the job was not started by `record`.
  const char* program = getenv("UCTRACE_TOPOLOGY_PROGRAM");
  return program != nullptr && copy(program, request.program, sizeof request.program) &&
         log::name_of_node(request.file, sizeof request.file, kSuffix) &&
         log::name_of_node(request.claim, sizeof request.claim, ".topology.xml.part");
}

}  // namespace

void take_topology() {
  if (!asked.take()) return;
  const int saved_errno = errno;
  if (fill_request()) {
    log::run_beside(take);
  }
  errno = saved_errno;
}

}  // namespace uctrace::gpu
