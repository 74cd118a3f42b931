// The name of each rank's GPU, which the other ranks need for the truth.
#pragma once

#include <unistd.h>

#include "common.h"
#include "device_memory.h"

enum { kHostNameBytes = 64 };

struct place {
  char host[kHostNameBytes], gpu[kGpuNameBytes];
};

// By rank; rank r takes GPU r modulo their number.
static inline struct place* take_gpus(int rank, int size) {
  struct place own = {0};
  gethostname(own.host, kHostNameBytes - 1);
  name_gpu(use_device(rank), own.gpu);
  struct place* places = allocate(sizeof own * (size_t)size);
  MPI_Allgather(&own, sizeof own, MPI_BYTE, places, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  return places;
}

// One end of a message, in memory of a rank, for the truth file.
static inline void write_end(const char* end, const struct memory_kind* kind,
                             const struct place* place) {
  if (strcmp(kind->memory, "host") == 0) {
    fprintf(truth_file, ",\"%s\":{\"kind\":\"host\",\"gpu\":null}", end);
  } else {
    fprintf(truth_file, ",\"%s\":{\"kind\":\"%s\",\"gpu\":\"%s/%s\"}", end, kind->memory,
            place->host, place->gpu);
  }
}
