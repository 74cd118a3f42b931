// OpenSHMEM: calls of each kind, with contexts and threads, whose results are checked. Each PE writes a line for each
// call that it makes, in its order: the thread, the function, the PE, the bytes, the context and the line.
//
//     shmem_calls [TRUTH]

#include <complex.h>
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLength = 1000, kThreads = 3, kRounds = 20, kNone = -2147483647 - 1 };

static FILE* truth;
static int me, all, next;
static pthread_mutex_t serial = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together_there;  // all threads live at once: else they share a lane
static __thread int thread;

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "shmem_calls: PE %d: %s is wrong\n", me, what);
  shmem_global_exit(1);
}

// `context` is known once the call has returned: it may make it.
static void called(const char* function, int pe, size_t bytes, void* context, int status, int line) {
  if (truth == NULL) return;
  flockfile(truth);
  fprintf(truth,
          "{\"thread\":%d,\"function\":\"%s\",\"peer\":%d,\"bytes\":%zu,\"scope\":%zu,\"status\":%d,\"line\":%d}\n",
          thread, function, pe, bytes, (size_t)context, status, line);
  funlockfile(truth);
}

// A statement that makes a call, and what is to be recorded of it.
#define CALL(function, pe, bytes, context, ...)           \
  do {                                                    \
    function(__VA_ARGS__);                                \
    called(#function, pe, bytes, context, 0, __LINE__);   \
  } while (0)
// The same for a result.
#define RESULT(result, function, pe, bytes, context, ...) \
  do {                                                    \
    result = function(__VA_ARGS__);                       \
    called(#function, pe, bytes, context, 0, __LINE__);   \
  } while (0)

// The symmetric memory of this program.
static struct {
  long sync[2][SHMEM_SYNC_SIZE], work_sync[2][SHMEM_REDUCE_SYNC_SIZE];
  long numbers[kLength], gathered[16 * kLength], flag, lock, counters[kThreads];
  int words[kLength], ints[2 * SHMEM_REDUCE_MIN_WRKDATA_SIZE + 8], summed[8];
  float single;
  double twice, doubles[kLength];
  long double big;
  short small;
  signed char byte;
  double complex pairs[4], pair_sums[4], pair_work[8];
} ours;

static void elements(void) {
  CALL(shmem_float_p, next, sizeof(float), 0, &ours.single, 1.5f + me, next);
  CALL(shmem_double_p, next, sizeof(double), 0, &ours.twice, 2.25 + me, next);
  CALL(shmem_longdouble_p, next, sizeof(long double), 0, &ours.big, 3.125L + me, next);
  CALL(shmem_short_p, next, sizeof(short), 0, &ours.small, (short)(-4 - me), next);
  CALL(shmem_schar_p, next, 1, 0, &ours.byte, (signed char)(-5 - me), next);
  CALL(shmem_barrier_all, kNone, 0, 0);
  const int before = (me + all - 1) % all;
  check(ours.single == 1.5f + before && ours.twice == 2.25 + before && ours.big == 3.125L + before, "a float");
  check(ours.small == -4 - before && ours.byte == -5 - before, "an integer");
  float single;
  double twice;
  long double big;
  signed char byte;
  RESULT(single, shmem_float_g, next, sizeof(float), 0, &ours.single, next);
  RESULT(twice, shmem_double_g, next, sizeof(double), 0, &ours.twice, next);
  RESULT(big, shmem_longdouble_g, next, sizeof(long double), 0, &ours.big, next);
  RESULT(byte, shmem_schar_g, next, 1, 0, &ours.byte, next);
  check(single == 1.5f + me && twice == 2.25 + me && big == 3.125L + me && byte == -5 - me, "what was fetched");
}

static void blocks(shmem_ctx_t context) {
  long* const from = malloc(kLength * sizeof *from);
  for (int i = 0; i < kLength; ++i) from[i] = me * kLength + i;
  CALL(shmem_long_put, next, kLength * sizeof(long), 0, ours.numbers, from, kLength, next);
  CALL(shmem_put32, next, 40, 0, ours.words, from, 10, next);
  CALL(shmem_putmem, next, 3, 0, ours.words, from, 3, next);
  CALL(shmem_put128_nbi, next, 64, 0, ours.words, from, 4, next);
  CALL(shmem_double_iput, next, 50 * sizeof(double), 0, ours.doubles, (double*)from, 2, 1, 50, next);
  CALL(shmem_ctx_long_put_nbi, next, 8 * sizeof(long), context, context, ours.numbers, from, 8, next);
  CALL(shmem_ctx_iput64, next, 24, context, context, ours.numbers, from, 1, 2, 3, next);
  CALL(shmem_ctx_fence, kNone, 0, context, context);
  CALL(shmem_ctx_quiet, kNone, 0, context, context);
  CALL(shmem_fence, kNone, 0, 0);
  CALL(shmem_quiet, kNone, 0, 0);
  CALL(shmem_barrier_all, kNone, 0, 0);
  CALL(shmem_long_get, next, 8 * sizeof(long), 0, from, ours.numbers + 100, 8, next);
  check(from[0] == me * kLength + 100, "what was got");
  CALL(shmem_ctx_getmem, next, 77, context, context, from, ours.numbers, 77, next);
  CALL(shmem_int_iget, next, 5 * sizeof(int), 0, (int*)from, ours.words, 1, 2, 5, next);
  CALL(shmem_get8_nbi, next, 9, 0, from, ours.words, 9, next);
  CALL(shmem_quiet, kNone, 0, 0);
  CALL(shmem_putmem, next, 0, 0, ours.words, from, 0, next);
  free(from);
}

static void atomics(shmem_ctx_t context) {
  long was;
  CALL(shmem_long_atomic_set, me, sizeof(long), 0, &ours.flag, 10, me);
  RESULT(was, shmem_long_atomic_fetch_add, me, sizeof(long), 0, &ours.flag, 5, me);
  check(was == 10, "fetch_add");
  RESULT(was, shmem_long_atomic_compare_swap, me, sizeof(long), 0, &ours.flag, 15, 7, me);
  check(was == 15, "compare_swap");
  RESULT(was, shmem_ctx_long_atomic_fetch, me, sizeof(long), context, context, &ours.flag, me);
  check(was == 7, "fetch");
  double twice;
  CALL(shmem_double_p, me, sizeof(double), 0, &ours.twice, 0.5, me);
  RESULT(twice, shmem_double_atomic_swap, me, sizeof(double), 0, &ours.twice, 8.75, me);
  check(twice == 0.5, "swap");
  RESULT(twice, shmem_double_atomic_fetch, me, sizeof(double), 0, &ours.twice, me);
  check(twice == 8.75, "fetch of a double");
  CALL(shmem_long_atomic_inc, me, sizeof(long), 0, &ours.flag, me);
  CALL(shmem_ctx_int_atomic_add, next, sizeof(int), context, context, &ours.words[500], 3, next);
  CALL(shmem_uint_atomic_or, next, sizeof(int), 0, (unsigned*)&ours.words[501], 6, next);
  CALL(shmem_barrier_all, kNone, 0, 0);
  check(ours.flag == 8 && ours.words[500] == 3 && ours.words[501] == 6, "what atomic operations left");
}

static void together(void) {
  CALL(shmem_broadcast64, 0, 20 * 8, 0, ours.gathered, ours.numbers, 20, 0, 0, 0, all, ours.sync[0]);
  CALL(shmem_fcollect32, kNone, 7 * 4, 0, ours.gathered, ours.words, 7, 0, 0, all, ours.sync[1]);
  CALL(shmem_barrier_all, kNone, 0, 0);
  CALL(shmem_collect64, kNone, (size_t)(me + 1) * 8, 0, ours.gathered, ours.numbers, (size_t)(me + 1), 0, 0, all,
       ours.sync[0]);
  CALL(shmem_alltoall64, kNone, 2 * 8, 0, ours.gathered, ours.numbers, 2, 0, 0, all, ours.sync[1]);
  for (int i = 0; i < 8; ++i) ours.ints[i] = me + i;
  CALL(shmem_barrier_all, kNone, 0, 0);
  CALL(shmem_int_sum_to_all, kNone, 6 * sizeof(int), 0, ours.summed, ours.ints, 6, 0, 0, all, ours.ints + 8,
       ours.work_sync[0]);
  check(ours.summed[1] == all * (all - 1) / 2 + all, "a sum");
  for (int i = 0; i < 4; ++i) ours.pairs[i] = me + i * I;
  CALL(shmem_complexd_sum_to_all, kNone, 3 * sizeof(double complex), 0, ours.pair_sums, ours.pairs, 3, 0, 0, all,
       ours.pair_work, ours.work_sync[1]);
  check(ours.pair_sums[2] == (double)(all * (all - 1) / 2) + 2.0 * all * I, "a complex sum");
  CALL(shmem_sync_all, kNone, 0, 0);
  CALL(shmem_barrier, kNone, 0, 0, 0, 0, all, ours.sync[0]);
}

static void waits_and_locks(void) {
  CALL(shmem_long_p, next, sizeof(long), 0, &ours.lock, 0, next);
  CALL(shmem_barrier_all, kNone, 0, 0);
  CALL(shmem_long_p, next, sizeof(long), 0, &ours.flag, 42, next);
  CALL(shmem_long_wait_until, kNone, 0, 0, &ours.flag, SHMEM_CMP_EQ, 42);
  int there;
  RESULT(there, shmem_long_test, kNone, 0, 0, &ours.flag, SHMEM_CMP_EQ, 42);
  check(there != 0, "a test");
  CALL(shmem_barrier_all, kNone, 0, 0);
  CALL(shmem_set_lock, kNone, 0, 0, &ours.lock);
  CALL(shmem_clear_lock, kNone, 0, 0, &ours.lock);
  CALL(shmem_barrier_all, kNone, 0, 0);
}

static void* of_thread(void* number) {
  thread = 1 + (int)(size_t)number;
  pthread_barrier_wait(&together_there);
  for (int i = 0; i < kRounds; ++i) {
    pthread_mutex_lock(&serial);
    CALL(shmem_long_atomic_add, next, sizeof(long), 0, &ours.counters[thread - 1], thread, next);
    CALL(shmem_putmem, next, (size_t)(100 * thread + i), 0, ours.gathered + kLength * thread, ours.numbers,
         (size_t)(100 * thread + i), next);
    pthread_mutex_unlock(&serial);
  }
  pthread_barrier_wait(&together_there);
  return NULL;
}

static void write_truth(const char* prefix) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%d.jsonl", prefix, me);
  FILE* const file = fopen(path, "w");
  if (file == NULL) exit(1);
  rewind(truth);
  for (int c; (c = getc(truth)) != EOF;) putc(c, file);
  fclose(file);
}

int main(int count, char** arguments) {
  int level = -1, status;
  if (count > 1) truth = tmpfile();
  status = shmem_init_thread(SHMEM_THREAD_SERIALIZED, &level);
  called("shmem_init_thread", kNone, 0, 0, status, __LINE__ - 1);
  check(status == 0 && level >= SHMEM_THREAD_SERIALIZED, "the thread level");
  me = shmem_my_pe(), all = shmem_n_pes(), next = (me + 1) % all;
  for (int s = 0; s < 2; ++s) {
    for (int i = 0; i < SHMEM_SYNC_SIZE; ++i) ours.sync[s][i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) ours.work_sync[s][i] = SHMEM_SYNC_VALUE;
  }
  CALL(shmem_barrier_all, kNone, 0, 0);

  void* memory;
  RESULT(memory, shmem_malloc, kNone, 5000, 0, 5000);
  RESULT(memory, shmem_realloc, kNone, 6000, 0, memory, 6000);
  CALL(shmem_free, kNone, 0, 0, memory);
  RESULT(memory, shmem_calloc, kNone, 30 * 16, 0, 30, 16);
  CALL(shmem_free, kNone, 0, 0, memory);
  RESULT(memory, shmem_align, kNone, 700, 0, 64, 700);
  CALL(shmem_free, kNone, 0, 0, memory);
  shmem_ctx_t context;
  status = shmem_ctx_create(0, &context);
  called("shmem_ctx_create", kNone, 0, context, status, __LINE__ - 1);
  check(status == 0, "making a context");

  elements();
  blocks(context);
  atomics(context);
  together();
  waits_and_locks();
  pthread_t threads[kThreads];
  pthread_barrier_init(&together_there, NULL, kThreads);
  for (size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, of_thread, (void*)i);
  for (size_t i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  CALL(shmem_barrier_all, kNone, 0, 0);
  for (int i = 0; i < kThreads; ++i) check(ours.counters[i] == (long)kRounds * (i + 1), "what threads added");

  CALL(shmem_ctx_destroy, kNone, 0, context, context);
  if (me == 0) printf("shmem_calls: %d PEs are right\n", all);
  fflush(stdout);
  CALL(shmem_finalize, kNone, 0, 0);
  if (count > 1) write_truth(arguments[1]);
  return 0;
}
