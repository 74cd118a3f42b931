// Traffic of windows and files on two communicators.
//
//     attribution_objects epochs|files [TRUTH-PREFIX]

#include "cases.h"

// --- one-sided epochs ----------------------------------------------------------------------------

struct window {
  const struct channel* channel;
  MPI_Win win;
  size_t bytes;
  unsigned char *memory, *from, *got;
};

static struct window make_window(const struct channel* channel, size_t bytes) {
  struct window window = {.channel = channel,
                          .bytes = bytes,
                          .memory = allocate(2 * bytes),
                          .from = allocate(bytes),
                          .got = allocate(bytes)};
  fill(window.memory, bytes, seed_of(rank, rank, bytes));
  fill(window.from, bytes, seed_of(rank, next, bytes));
  MPI_Win_create(window.memory, (MPI_Aint)(2 * bytes), 1, MPI_INFO_NULL, channel->comm,
                 &window.win);
  return window;
}

// Reads the next rank's first half and writes its second.
static void there_and_back(struct window* window) {
  const int count = (int)window->bytes;
  MPI_Put(window->from, count, MPI_BYTE, next, count, count, MPI_BYTE, window->win);
  sent(window->channel, "MPI_Put", next, window->bytes, kNoTag);
  MPI_Get(window->got, count, MPI_BYTE, next, 0, count, MPI_BYTE, window->win);
  write_truth((struct sent){.src = next,
                            .dst = rank,
                            .bytes = window->bytes,
                            .tag = kNoTag,
                            .function = "MPI_Get",
                            .comm = window->channel->name});
}

static void expect_copies(struct window* window) {
  expect(window->got, next, next, window->bytes);
  expect(window->memory + window->bytes, previous, rank, window->bytes);
  memset(window->got, 0, window->bytes);
  memset(window->memory + window->bytes, 0, window->bytes);
}

// Epochs of two windows at the same time.
static void epochs(void) {
  struct window first = make_window(&a, 5000), second = make_window(&b, 120000);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Win_lock_all(0, second.win);
    MPI_Win_fence(0, first.win);
    there_and_back(&second);
    there_and_back(&first);
    talk_with_all(500);
    MPI_Win_flush_all(second.win);
    MPI_Win_fence(0, first.win);
    MPI_Win_unlock_all(second.win);
    MPI_Barrier(talk.comm);
    expect_copies(&first);
    expect_copies(&second);
    MPI_Barrier(talk.comm);
  }
  MPI_Win_free(&first.win);
  MPI_Win_free(&second.win);
}

// --- files ---------------------------------------------------------------------------------------

// Ranks own alternate blocks of a file: for a collective write they must first exchange data.
static void write_and_read(const struct channel* channel, size_t bytes) {
  enum { kBlocks = 8 };
  char path[4096];
  snprintf(path, sizeof path, "%s.%s", truth_prefix, channel->name);
  unsigned char *out = allocate(kBlocks * bytes), *in = allocate(kBlocks * bytes);
  const int count = kBlocks * (int)bytes;
  MPI_File file;
  MPI_Datatype mine;
  MPI_Request request;
  fill(out, kBlocks * bytes, seed_of(rank, rank, bytes));
  MPI_File_open(channel->comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_Type_vector(2 * kBlocks, (int)bytes, (int)bytes * size, MPI_BYTE, &mine);
  MPI_Type_commit(&mine);
  MPI_File_set_view(file, (MPI_Offset)((size_t)rank * bytes), MPI_BYTE, mine, "native",
                    MPI_INFO_NULL);
  MPI_File_write_at_all(file, 0, out, count, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_iwrite_at_all(file, count, out, count, MPI_BYTE, &request);
  talk_with_all(400);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(talk.comm);
  MPI_File_read_at_all(file, count, in, count, MPI_BYTE, MPI_STATUS_IGNORE);
  if (memcmp(in, out, kBlocks * bytes) != 0) fail("the file has other contents");
  MPI_File_close(&file);
  MPI_Type_free(&mine);
  free(out);
  free(in);
}

static void files(void) {
  if (truth_prefix == NULL) fail("files need a prefix");
  write_and_read(&a, 5000);
  write_and_read(&b, 60000);
}

int main(int argc, char** argv) {
  static const struct test_case kCases[] = {{"epochs", epochs}, {"files", files}};
  return run_case(argc, argv, kCases, sizeof kCases / sizeof *kCases);
}
