// A process that uses UCX, in various circumstances of its life.
//
//     process_life CASE
//
// * exec: uses UCX, becomes another image of this program, which uses UCX, too
// * fork: uses UCX; a child uses UCX for itself; goes on
// * raw-fork: the same by _Fork(), which calls no handlers of pthread_atfork()
// * fork-amid: children are forked while another thread uses UCX; they do something else
// * fork-in-loader: a child is forked while another thread has a lock of the loader, and ends by
// exit()
// * raw-fork-in-loader: the same by _Fork()
// * fork-in-settings: a child is forked while another thread reads UCTRACE_LEAVE_OUT, and uses UCX
// * commands: uses UCX; runs others by system(), posix_spawn() and vfork()
// * main-ends: the main thread ends; another one uses UCX and ends the process
// * last-thread: the same, and that ends as the last one does: it returns
// * late-log: uses UCX until its main thread is alone, tells HOLD_UNTIL, and goes on
// * thread-exits: another thread ends the process (status 3) while the main one uses UCX
// * exit-amid: the process ends while threads begin to use UCX
// * quick-exit: ends by quick_exit() (status 4); a handler that that calls uses UCX
// * late-use: a destructor that comes after uctrace's uses UCX
// * late-signal: the same raises SIGUSR1
// * signals: a handler uses UCX with a worker of its own, whenever the timer fires
// * long-jump: a handler leaves a computation by siglongjmp, whenever the timer fires

#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ucp_self.h"

extern char** environ;

static void expect_success(int status, const char* what) { check(status == 0, what); }

static void wait_for(pid_t child) {
  int status = 1;
  check(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
  expect_success(status, "the child");
}

static int become_another(char** arguments) {
  if (strcmp(arguments[1], "exec") != 0) return exchange_with_self();
  exchange_with_self();
  fflush(NULL);
  char* const again[] = {arguments[0], "exec-again", NULL};
  execv("/proc/self/exe", again);
  check(0, "execv");
  return 0;
}

static pid_t (*make_child)(void) = fork;

static int fork_a_user(void) {
  const int before = exchange_with_self();
  fflush(NULL);
  const pid_t child = make_child();
  if (child == 0) exit(exchange_with_self() > 0 ? 0 : 1);
  wait_for(child);
  return before + exchange_with_self();
}

static atomic_int busy;
static void* use_until_told(void* unused) {
  (void)unused;
  int count = 0;
  while (atomic_load(&busy)) count += exchange_with_self();
  return (void*)(intptr_t)count;
}

static int fork_amid(void) {
  pthread_t user;
  void* count = NULL;
  atomic_store(&busy, 1);
  check(pthread_create(&user, NULL, use_until_told, NULL) == 0, "pthread_create");
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    wait_for(child);
  }
  atomic_store(&busy, 0);
  pthread_join(user, &count);
  return (intptr_t)count > 0 ? 0 : 1;
}

static atomic_int in_loader, may_go_on;
static int stay_in_loader(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)info, (void)size, (void)unused;
  atomic_store(&in_loader, 1);
  while (!atomic_load(&may_go_on)) sched_yield();
  return 1;
}
static void* ask_loader(void* unused) {
  dl_iterate_phdr(stay_in_loader, unused);
  return NULL;
}

static int fork_in_loader(void) {
  enum { kMostSeconds = 20 };
  const int count = exchange_with_self();
  pthread_t asking;
  check(pthread_create(&asking, NULL, ask_loader, NULL) == 0, "pthread_create");
  while (!atomic_load(&in_loader)) sched_yield();
  fflush(NULL);
  const pid_t child = make_child();
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    alarm(kMostSeconds);  // a child that hangs ends by it
    exit(0);
  }
  wait_for(child);
  atomic_store(&may_go_on, 1);
  pthread_join(asking, NULL);
  return count;
}

static atomic_int holds_reader, has_reader;
// In the place of libc's, for all libraries of this process.
char* getenv(const char* name) {
  const size_t length = strlen(name);
  if (atomic_load(&holds_reader) && strcmp(name, "UCTRACE_LEAVE_OUT") == 0 &&
      atomic_exchange(&holds_reader, 0)) {
    atomic_store(&has_reader, 1);
    while (!atomic_load(&may_go_on)) sched_yield();
  }
  for (char** one = environ; one != NULL && *one != NULL; ++one) {
    if (strncmp(*one, name, length) == 0 && (*one)[length] == '=') return *one + length + 1;
  }
  return NULL;
}
static void* read_settings(void* unused) {
  (void)unused;
  const int count = exchange_with_self();
  atomic_store(&has_reader, 1);  // without the tool nothing reads that variable
  return (void*)(intptr_t)count;
}

static int fork_in_settings(void) {
  enum { kMostSeconds = 20 };
  pthread_t reader;
  void* count = NULL;
  atomic_store(&holds_reader, 1);
  check(pthread_create(&reader, NULL, read_settings, NULL) == 0, "pthread_create");
  while (!atomic_load(&has_reader)) sched_yield();
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    alarm(kMostSeconds);  // a child that hangs ends by it
    exit(exchange_with_self() > 0 ? 0 : 1);
  }
  wait_for(child);
  atomic_store(&may_go_on, 1);
  pthread_join(reader, &count);
  return (int)(intptr_t)count;
}

static int run_commands(void) {
  char* const words[] = {"true", NULL};
  pid_t child;
  int count = exchange_with_self();
  expect_success(system("true"), "system");
  expect_success(posix_spawn(&child, "/bin/true", NULL, NULL, words, environ), "posix_spawn");
  wait_for(child);
  count += exchange_with_self();
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  child = vfork();
  if (child == 0) {
    execv("/bin/true", words);
    _exit(1);
  }
  wait_for(child);
  return count + exchange_with_self();
}

static pthread_t main_thread;
static struct node of_process;
static ucp_context_h of_process_context;
static void* outlive_main(void* returns) {
  check(pthread_join(main_thread, NULL) == 0, "pthread_join");
  for (ucp_tag_t tag = 1; tag <= 10; ++tag) {
    send_to_self(of_process.worker, of_process.endpoint, tag, 1000);
  }
  close_node(of_process);
  printf("process_life: 10 messages are right\n");
  if (returns == NULL) exit(0);
  ucp_cleanup(of_process_context);  // whose thread would be the last one
  return NULL;
}

_Noreturn static void end_main(void* returns) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  pthread_t other;
  check(ucp_init(&params, NULL, &of_process_context) == UCS_OK, "ucp_init");
  of_process = open_node(of_process_context, UCS_THREAD_MODE_SERIALIZED);
  main_thread = pthread_self();
  check(pthread_create(&other, NULL, outlive_main, returns) == 0, "pthread_create");
  pthread_exit(NULL);
}

static int threads_there(void) {
  DIR* tasks = opendir("/proc/self/task");
  int count = 0;
  check(tasks != NULL, "opening /proc/self/task");
  for (const struct dirent* task; (task = readdir(tasks)) != NULL;) count += task->d_name[0] != '.';
  closedir(tasks);
  return count;
}

static int use_with_late_log(void) {
  const char* may_open = getenv("HOLD_UNTIL");
  const int count = exchange_with_self();
  if (may_open != NULL) close(open(may_open, O_CREAT | O_WRONLY, 0644));
  while (threads_there() > 1) exchange_with_self();
  return count + exchange_with_self();
}

static ucp_context_h shared_context;
static atomic_int sending;
_Noreturn static void* begin_to_use(void* number) {
  const struct node mine = open_node(shared_context, UCS_THREAD_MODE_SINGLE);
  ucp_tag_t tag = (ucp_tag_t)((intptr_t)number + 1) << 32;
  atomic_fetch_add(&sending, 1);
  for (;;) send_to_self(mine.worker, mine.endpoint, tag++, 8);
}

// When the process ends one thread sends, and the others are on the way to their first worker.
_Noreturn static void end_amid(void) {
  const ucp_params_t params = {
      .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
      .features = UCP_FEATURE_TAG,
      .mt_workers_shared = 1};
  check(ucp_init(&params, NULL, &shared_context) == UCS_OK, "ucp_init");
  for (intptr_t i = 0; i < 6; ++i) {
    pthread_t user;
    check(pthread_create(&user, NULL, begin_to_use, (void*)i) == 0, "pthread_create");
  }
  while (atomic_load(&sending) == 0) sched_yield();
  exit(0);
}

static void use_at_quick_exit(void) {
  printf("process_life: %d messages at the end are right\n", exchange_with_self());
  fflush(stdout);
}
_Noreturn static void exit_quickly(void) {
  check(at_quick_exit(use_at_quick_exit) == 0, "at_quick_exit");
  exchange_with_self();
  quick_exit(4);
}

extern void (*late_task)(void);
static void use_late(void) {
  printf("process_life: %d late messages are right\n", exchange_with_self());
  fflush(stdout);
}
static void raise_late(void) {
  raise(SIGUSR1);
  printf("process_life: lives\n");
  fflush(stdout);
}
static int do_late(void (*task)(void)) {
  late_task = task;
  return exchange_with_self();
}

static atomic_int exchanges;
static void* exit_amid(void* unused) {
  (void)unused;
  while (atomic_load(&exchanges) < 3) sched_yield();
  _exit(3);
}

_Noreturn static void exit_from_thread(void) {
  pthread_t other;
  check(pthread_create(&other, NULL, exit_amid, NULL) == 0, "pthread_create");
  for (;;) {
    exchange_with_self();
    atomic_fetch_add(&exchanges, 1);
  }
}

// --- signals -------------------------------------------------------------------------------------

enum { kWarmUp = 64, kOfMain = 4000, kHandled = 100, kPauseUs = 50 };

static struct node of_main, of_handler;
static volatile sig_atomic_t handled;

static void call_often(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  const struct itimerval often = {{0, kPauseUs}, {0, kPauseUs}};
  check(sigaction(SIGALRM, &action, NULL) == 0, "sigaction");
  check(setitimer(ITIMER_REAL, &often, NULL) == 0, "setitimer");
}

// Threads started meanwhile, such as UCX's own, never run the handler: only this thread does.
static void block_calls(int how) {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  check(pthread_sigmask(how, &alarm, NULL) == 0, "pthread_sigmask");
}

static void stop_calling(void) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  check(setitimer(ITIMER_REAL, &never, NULL) == 0, "setitimer");
}

// A message without any call that a handler may not make.
static void send_small(struct node node, ucp_tag_t tag) {
  const ucp_request_param_t defaults = {0};
  ucp_tag_t got = 0;
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(node.worker, &got, sizeof got, tag, UINT64_MAX, &defaults);
  finish(node.worker, ucp_tag_send_nbx(node.endpoint, &tag, sizeof tag, tag, &defaults), "send");
  finish(node.worker, receive, "receive");
  check(got == tag, "comparing contents");
}

static void send_from_handler(int signal) {
  (void)signal;
  if (handled < kHandled) send_small(of_handler, (ucp_tag_t)1 << 32 | (ucp_tag_t)handled++);
}

static int use_ucx_in_handler(void) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  ucp_context_h contexts[2];
  block_calls(SIG_BLOCK);
  check(ucp_init(&params, NULL, &contexts[0]) == UCS_OK, "ucp_init");
  check(ucp_init(&params, NULL, &contexts[1]) == UCS_OK, "ucp_init");
  of_main = open_node(contexts[0], UCS_THREAD_MODE_SINGLE);
  of_handler = open_node(contexts[1], UCS_THREAD_MODE_SINGLE);
  for (int i = 0; i < kWarmUp; ++i) {  // UCX allocates at first
    send_small(of_main, (ucp_tag_t)2 << 32 | (ucp_tag_t)i);
    send_small(of_handler, (ucp_tag_t)3 << 32 | (ucp_tag_t)i);
  }
  block_calls(SIG_UNBLOCK);
  call_often(send_from_handler);
  for (int i = 0; i < kOfMain; ++i) send_small(of_main, (ucp_tag_t)4 << 32 | (ucp_tag_t)i);
  while (handled < kHandled) pause();
  stop_calling();
  close_node(of_main);
  close_node(of_handler);
  ucp_cleanup(contexts[0]);
  ucp_cleanup(contexts[1]);
  return 2 * kWarmUp + kOfMain + kHandled;
}

static sigjmp_buf away;
static volatile sig_atomic_t may_leave;
static void leave(int signal) {
  (void)signal;
  if (may_leave) {
    may_leave = 0;
    siglongjmp(away, 1);
  }
}

static int leave_computations(void) {
  volatile int left = 0;
  volatile int count = 0;
  call_often(leave);
  while (left < 50) {
    if (sigsetjmp(away, 1) == 0) {
      may_leave = 1;
      volatile unsigned work = 0;
      for (;;) work = work + 1;
    }
    left = left + 1;
    if (left % 10 == 0) count = count + exchange_with_self();
  }
  stop_calling();
  return count;
}

int main(int count, char** arguments) {
  check(count == 2, "usage: process_life CASE, which");
  const char* wanted = arguments[1];
  int messages = -1;
  if (strncmp(wanted, "raw-", 4) == 0) {
    make_child = _Fork;
    wanted += 4;
  }
  if (strncmp(wanted, "exec", 4) == 0) messages = become_another(arguments);
  if (strcmp(wanted, "fork") == 0) messages = fork_a_user();
  if (strcmp(wanted, "fork-amid") == 0) messages = fork_amid();
  if (strcmp(wanted, "fork-in-loader") == 0) messages = fork_in_loader();
  if (strcmp(wanted, "fork-in-settings") == 0) messages = fork_in_settings();
  if (strcmp(wanted, "commands") == 0) messages = run_commands();
  if (strcmp(wanted, "main-ends") == 0) end_main(NULL);
  if (strcmp(wanted, "last-thread") == 0) end_main(&of_process);
  if (strcmp(wanted, "late-log") == 0) messages = use_with_late_log();
  if (strcmp(wanted, "thread-exits") == 0) exit_from_thread();
  if (strcmp(wanted, "exit-amid") == 0) end_amid();
  if (strcmp(wanted, "quick-exit") == 0) exit_quickly();
  if (strcmp(wanted, "late-use") == 0) messages = do_late(use_late);
  if (strcmp(wanted, "late-signal") == 0) messages = do_late(raise_late);
  if (strcmp(wanted, "signals") == 0) messages = use_ucx_in_handler();
  if (strcmp(wanted, "long-jump") == 0) messages = leave_computations();
  check(messages >= 0, "finding this case");
  printf("process_life: %d messages are right\n", messages);
  return 0;
}
