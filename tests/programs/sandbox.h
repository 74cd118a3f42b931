// System call filters that a program installs for all of its threads: a blocked call fails with an
// errno, or ends the process.
#pragma once

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMostRules = 64 };

// The actions for the `listed` system calls, and for all others. A process is ended by SIGSYS.
static void filter_calls(const int* listed, size_t count, unsigned of_listed, unsigned of_others) {
  struct sock_filter code[kMostRules * 2 + 4];
  size_t n = 0;
  code[n++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < count; ++i) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)listed[i], 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, of_listed);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, of_others);
  const struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
  const long failed =
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
          ? -1
          : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  if (failed != 0) {
    fprintf(stderr, "no filter of system calls can be set here\n");
    exit(77);
  }
}

// By name: "none"; "EPERM" and "ENOSYS" refuse what writes and shapes files and moves memory;
// "kill" ends the process for the same, "thread" the thread; "strict" for all but the few calls
// that a program needs which has everything open; "ends" for what a thread does at its end. "pread"
// and "waits" refuse reading in a file, and waiting.
static void enter_sandbox(const char* kind) {
  static const int kOfFiles[] = {SYS_fallocate, SYS_pwrite64, SYS_ftruncate, SYS_fchmod,
                                 SYS_unlinkat,  SYS_mremap,   SYS_tgkill};
  static const int kFew[] = {
      SYS_read,         SYS_write,           SYS_close,        SYS_mmap,
      SYS_munmap,       SYS_madvise,         SYS_brk,          SYS_futex,
      SYS_epoll_ctl,    SYS_epoll_pwait,     SYS_rt_sigreturn, SYS_rt_sigprocmask,
      SYS_rt_sigaction, SYS_set_robust_list, SYS_rseq,         SYS_exit,
      SYS_exit_group,
#ifdef SYS_epoll_wait
      SYS_epoll_wait,
#endif
  };
  static const int kOfEnds[] = {SYS_madvise, SYS_exit};
  static const int kReading[] = {SYS_pread64};
  static const int kWaiting[] = {SYS_futex, SYS_nanosleep, SYS_clock_nanosleep};
  const size_t files = sizeof kOfFiles / sizeof *kOfFiles, few = sizeof kFew / sizeof *kFew;
  if (strcmp(kind, "EPERM") == 0) {
    filter_calls(kOfFiles, files, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW);
  } else if (strcmp(kind, "ENOSYS") == 0) {
    filter_calls(kOfFiles, files, SECCOMP_RET_ERRNO | ENOSYS, SECCOMP_RET_ALLOW);
  } else if (strcmp(kind, "kill") == 0) {
    filter_calls(kOfFiles, files, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW);
  } else if (strcmp(kind, "thread") == 0) {
    filter_calls(kOfFiles, files, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_ALLOW);
  } else if (strcmp(kind, "strict") == 0) {
    filter_calls(kFew, few, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
  } else if (strcmp(kind, "fallocate") == 0) {
    filter_calls(kOfFiles, 1, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW);
  } else if (strcmp(kind, "ends") == 0) {
    filter_calls(kOfEnds, 2, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW);
  } else if (strcmp(kind, "pread") == 0) {
    filter_calls(kReading, 1, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW);
  } else if (strcmp(kind, "waits") == 0) {
    filter_calls(kWaiting, 3, SECCOMP_RET_ERRNO | EINVAL, SECCOMP_RET_ALLOW);
  }
}
