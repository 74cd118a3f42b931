// Rank 0 sends a message to rank 1 from each of several allocations, one after the other, on one
// GPU and on the next in turn; each is freed before the next is made, so that addresses are used
// again. Some are made before MPI_Init, and some never used. Prints one line.
//
//     gpu_history TRUTH-PREFIX KIND...     kinds of memory: device, pool, vmm, managed, ...
//
// PREFIX.RANK.jsonl says what was sent, PREFIX-allocations.RANK.jsonl what was allocated, in order.

#include "gpu_ranks.h"

enum { kBytes = 100000, kFirstTag = 100 };

static const char* const kEarly[] = {"device", "pool", "vmm", "managed"};
enum { kEarlyCount = sizeof kEarly / sizeof *kEarly, kFreedEarly = 1 };

struct allocation {
  struct memory memory;
  struct place place;
  int freed;
};

static struct place use_place(int number) {
  struct place place = {0};
  gethostname(place.host, kHostNameBytes - 1);
  name_gpu(use_device(number), place.gpu);
  return place;
}

static struct allocation make(const char* kind, int gpu) {
  struct allocation made = {.place = use_place(gpu)};
  made.memory = allocate_memory(kind, kBytes);
  return made;
}

static void end(struct allocation* allocation) {
  free_memory(allocation->memory);
  allocation->freed = 1;
}

static void write_place(FILE* file, const struct allocation* one) {
  if (strcmp(one->memory.kind->memory, "host") == 0) {
    fprintf(file, "{\"kind\":\"host\",\"gpu\":null}");
  } else {
    fprintf(file, "{\"kind\":\"%s\",\"gpu\":\"%s/%s\"}", one->memory.kind->memory, one->place.host,
            one->place.gpu);
  }
}

static void tell_sent(const struct allocation* mine, const struct place* others, int tag) {
  struct allocation there = *mine;
  there.place = *others;
  fprintf(truth_file,
          "{\"src\":0,\"dst\":1,\"bytes\":%d,\"tag\":%d,\"function\":\"MPI_Send\",\"comm\":"
          "\"MPI_COMM_WORLD\",\"src_memory\":",
          kBytes, tag);
  write_place(truth_file, mine);
  fprintf(truth_file, ",\"dst_memory\":");
  write_place(truth_file, &there);
  fprintf(truth_file, "}\n");
}

static void tell_allocations(const char* prefix, int rank, const struct allocation* all,
                             int count) {
  char path[4096];
  snprintf(path, sizeof path, "%s-allocations.%d.jsonl", prefix, rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) fail("cannot write %s", path);
  for (int i = 0; i < count; ++i) {
    fprintf(file, "{\"kind\":\"%s\",\"address\":%llu,\"bytes\":%zu,\"freed\":%s,\"place\":",
            all[i].memory.kind->name, all[i].memory.address, all[i].memory.bytes,
            all[i].freed ? "true" : "false");
    write_place(file, &all[i]);
    fprintf(file, "}\n");
  }
  fclose(file);
}

// The tag is the number of the allocation, which both ranks count alike.
static void exchange(int rank, const struct allocation* mine, int number) {
  const int tag = kFirstTag + number;
  struct place others = {0};
  MPI_Sendrecv(&mine->place, sizeof others, MPI_BYTE, 1 - rank, 0, &others, sizeof others, MPI_BYTE,
               1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) {
    fill_memory(mine->memory, kBytes, (uint64_t)tag);
    tell_sent(mine, &others, tag);
    MPI_Send(buffer_of(mine->memory), kBytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
  } else {
    MPI_Recv(buffer_of(mine->memory), kBytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!memory_holds(mine->memory, kBytes, (uint64_t)tag)) fail("wrong contents of %d", tag);
  }
}

int main(int argc, char** argv) {
  int rank;
  const int count = kEarlyCount + argc - 2;
  struct allocation* all = calloc((size_t)count, sizeof *all);
  for (int i = 0; i < kEarlyCount; ++i) all[i] = make(kEarly[i], 0);
  end(&all[kFreedEarly]);
  MPI_Init(&argc, &argv);
  if (argc < 3) fail("usage: gpu_history TRUTH-PREFIX KIND...");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  open_truth(argv[1], rank);
  exchange(rank, &all[0], 0);
  for (int i = kEarlyCount; i < count; ++i) {
    all[i] = make(argv[i - kEarlyCount + 2], rank + i);
    exchange(rank, &all[i], i);
    end(&all[i]);
  }
  tell_allocations(argv[1], rank, all, count);
  if (rank == 0)
    printf("gpu_history: %d allocations, %d messages\n", count, count - kEarlyCount + 1);
  fclose(truth_file);
  MPI_Finalize();
  return 0;
}
