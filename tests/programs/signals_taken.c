// Reports which signals it receives.
//
//     signals_taken FILE default handles none: default actions signals_taken FILE count counts
//     each, until the last real-time signal comes, and prints
//                                    "NUMBER COUNT" of those that came, with a value that came
//                                    along
//
// FILE.RANK (FILE.0 without a launcher) is made when it is ready; it holds the process id.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kSignals = 65 };
static volatile sig_atomic_t count_of[kSignals], value_of[kSignals];

static void take(int signal, siginfo_t* info, void* context) {
  (void)context;
  ++count_of[signal];
  if (info->si_code == SI_QUEUE) value_of[signal] = info->si_value.sival_int;
}

static void take_all(sigset_t* all) {
  struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigfillset(all);
  sigprocmask(SIG_BLOCK, all, NULL);
  sigfillset(&action.sa_mask);
  for (int signal = 1; signal < kSignals; ++signal) sigaction(signal, &action, NULL);
}

static const char* rank_of_launcher(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  return rank != NULL ? rank : getenv("PMI_RANK");
}

static void say_ready(const char* name) {
  const char* rank = rank_of_launcher();
  char path[4096], unfinished[4200];
  snprintf(path, sizeof path, "%s.%s", name, rank != NULL ? rank : "0");
  snprintf(unfinished, sizeof unfinished, "%s.new", path);
  FILE* file = fopen(unfinished, "w");
  if (file == NULL) exit(9);
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  if (rename(unfinished, path) != 0) exit(9);
}

int main(int count, char** arguments) {
  if (count != 3) return 9;
  sigset_t all, none;
  sigemptyset(&none);
  const int counts = strcmp(arguments[2], "count") == 0;
  if (counts) take_all(&all);
  say_ready(arguments[1]);
  while (!counts) pause();
  while (count_of[SIGRTMAX] == 0) sigsuspend(&none);
  for (int signal = 1; signal < kSignals; ++signal) {
    if (count_of[signal] == 0) continue;
    printf("%d %d %d\n", signal, (int)count_of[signal], (int)value_of[signal]);
  }
  return rank_of_launcher() != NULL ? 0 : 7;  // a launcher ends the others when one fails
}
