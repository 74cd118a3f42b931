// Message buffers: contiguous bytes, or pairs of ints with a hole after each.
#pragma once

#include "common.h"

enum layout { kContiguous, kVector };
enum { kBlockBytes = 2 * sizeof(int), kStrideBytes = 3 * sizeof(int) };

static inline size_t extent_of(enum layout layout, size_t bytes) {
  return layout == kVector ? bytes / kBlockBytes * kStrideBytes : bytes;
}

// How MPI is told about a buffer: `count` elements of `type`.
struct view {
  int count;
  MPI_Datatype type;
};

static inline struct view make_view(enum layout layout, size_t bytes) {
  struct view view = {.count = (int)bytes, .type = MPI_BYTE};
  if (layout == kVector) {
    view.count = 1;
    MPI_Type_vector((int)(bytes / kBlockBytes), 2, 3, MPI_INT, &view.type);
    MPI_Type_commit(&view.type);
  }
  return view;
}

static inline void free_view(struct view* view) {
  if (view->type != MPI_BYTE) MPI_Type_free(&view->type);
}

// Copies between packed contents and a strided buffer.
enum direction { kScatter, kGather };
static inline void restride(enum direction direction, unsigned char* packed, unsigned char* strided,
                            size_t bytes) {
  for (size_t block = 0; block < bytes / kBlockBytes; ++block) {
    unsigned char *tight = packed + block * kBlockBytes, *loose = strided + block * kStrideBytes;
    memcpy(direction == kScatter ? loose : tight, direction == kScatter ? tight : loose,
           kBlockBytes);
  }
}

static unsigned char* make_contents(enum layout layout, size_t bytes, uint64_t seed) {
  unsigned char* packed = allocate(bytes);
  fill(packed, bytes, seed);
  if (layout == kContiguous) return packed;
  unsigned char* strided = allocate(extent_of(layout, bytes));
  restride(kScatter, packed, strided, bytes);
  free(packed);
  return strided;
}

static inline int contents_hold(enum layout layout, unsigned char* buffer, size_t bytes,
                                uint64_t seed) {
  if (layout == kContiguous) return holds(buffer, bytes, seed);
  unsigned char* packed = allocate(bytes);
  restride(kGather, packed, buffer, bytes);
  const int same = holds(packed, bytes, seed);
  free(packed);
  return same;
}
