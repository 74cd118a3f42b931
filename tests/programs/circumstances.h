// Unusual things that a program may do around its use of UCX.
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kFiles = 1024, kLittle = 4096 };

static void must(int good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

// Files that the program opens later reuse the descriptors of others.
static void close_files(void) {
  for (int fd = 3; fd < kFiles; ++fd) close(fd);
}

// A file of the program on every free descriptor: nothing else may write to it.
static FILE* kept_files;
static void keep_files(void) {
  kept_files = tmpfile();
  must(kept_files != NULL, "tmpfile");
  while (dup(fileno(kept_files)) >= 0) {
  }
}

// UCX itself writes a few bytes to descriptors that were closed without its knowledge; a log would
// write much more.
static void check_kept_files(void) {
  if (kept_files == NULL) return;
  const off_t bytes = lseek(fileno(kept_files), 0, SEEK_END);
  must(bytes >= 0, "lseek in the program's file");
  if (bytes < kLittle) return;
  fprintf(stderr, "%lld bytes were written to the program's file\n", (long long)bytes);
  exit(1);
}

static void limit_files(void) {
  const struct rlimit limit = {kFiles, kFiles};
  must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

// The original process waits until the daemon has ended: then no process has the pipe open.
static void become_daemon(void) {
  int ended[2];
  must(pipe(ended) == 0, "pipe");
  const pid_t child = fork();
  must(child >= 0, "fork");
  if (child != 0) {
    char nothing;
    close(ended[1]);
    must(waitpid(child, NULL, 0) == child, "waitpid");
    _exit(read(ended[0], &nothing, 1) == 0 ? 0 : 1);
  }
  close(ended[0]);
  must(setsid() >= 0, "setsid");
  const pid_t daemon = fork();
  must(daemon >= 0, "fork");
  if (daemon != 0) _exit(0);
  must(chdir("/") == 0, "chdir");
}

// Behaves like a kernel before Linux 5.9.
static void forget_close_range(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof code / sizeof *code, code};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
  must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

static int is(const char* word, const char* name) { return strcmp(word, name) == 0; }

static void before_ucx(const char* circumstance) {
  limit_files();
  if (is(circumstance, "chroot")) must(chroot(".") == 0, "chroot");
  if (is(circumstance, "daemon")) become_daemon();
  if (is(circumstance, "closes-before")) close_files();
  if (is(circumstance, "old-kernel")) forget_close_range();
}

static void amid_ucx(const char* circumstance) {
  if (is(circumstance, "daemon-later")) become_daemon();
  if (is(circumstance, "closes-later") || is(circumstance, "old-kernel")) close_files();
  if (is(circumstance, "closes-later") || is(circumstance, "old-kernel") ||
      is(circumstance, "uses-files-up")) {
    keep_files();
  }
}
