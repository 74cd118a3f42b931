// Runs a program under a process id of its own choice, so that ranks on two hosts share theirs:
//
//     at_pid FIRST PROGRAM [ARGUMENT...]      the id is FIRST + the local rank of Open MPI

#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const char* local_rank = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  if (argc < 3 || local_rank == NULL) {
    fprintf(stderr, "usage, as a rank of Open MPI: at_pid FIRST PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  pid_t wanted = (pid_t)(atoi(argv[1]) + atoi(local_rank));
  struct clone_args arguments = {
      .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&wanted, .set_tid_size = 1};
  const pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the launcher only knows the parent
    execv(argv[2], argv + 2);
    fprintf(stderr, "cannot run %s: %s\n", argv[2], strerror(errno));
    _exit(127);
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) < 0) {
    fprintf(stderr, "no process %d: %s\n", wanted, strerror(errno));
    return 1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
