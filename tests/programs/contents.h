// Contents of buffers: any number of bytes from a seed.
#pragma once

#include <stdint.h>
#include <string.h>

// splitmix64: a well mixed stream from any seed.
static inline uint64_t next_random(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline void fill(unsigned char* buffer, size_t bytes, uint64_t seed) {
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    const uint64_t word = next_random(&seed);
    memcpy(buffer + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
  }
}

static inline int holds(const unsigned char* buffer, size_t bytes, uint64_t seed) {
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    const uint64_t word = next_random(&seed);
    if (memcmp(buffer + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word) != 0) return 0;
  }
  return 1;
}
