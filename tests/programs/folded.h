// Gibibytes of address space over a few mebibytes of memory: one block, mapped repeatedly. Data
// written to one mapping appears at the same offset of all of them.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // memfd_create()
#endif
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kFoldBytes = 16 << 20 };

// NULL on failure. `bytes` is a multiple of kFoldBytes.
static unsigned char* make_folded(size_t bytes) {
  const int file = memfd_create("folded", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, kFoldBytes) != 0) return NULL;
  unsigned char* at =
      mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return NULL;
  for (size_t done = 0; done < bytes; done += kFoldBytes) {
    if (mmap(at + done, kFoldBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
        MAP_FAILED) {
      return NULL;
    }
  }
  close(file);
  return at;
}

static void fill_folded(unsigned char* folded, unsigned salt) {
  for (size_t i = 0; i < kFoldBytes; ++i) folded[i] = (unsigned char)(i * 7 + i / 251 + salt);
}

static int is_folded(const unsigned char* folded, unsigned salt) {
  for (size_t i = 0; i < kFoldBytes; ++i) {
    if (folded[i] != (unsigned char)(i * 7 + i / 251 + salt)) return 0;
  }
  return 1;
}
