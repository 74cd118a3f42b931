// Every operation of UCT, between the two ends of `pair`, on memory whose contents can be checked.
#pragma once

#include <string.h>

#include "uct_sides.h"

enum { kAmId = 20, kBytes = 64, kLong = 4000 };

static struct pair pair;

// Memory that operations work on, at the near and the far side.
static struct memory {
  unsigned char near[kLong], far[kLong];
  uint64_t wide, wide_result;
  uint32_t narrow, narrow_result;
} memory;
static uct_mem_h registered;
static uct_rkey_bundle_t key;

static uint64_t address_of(const void* pointer) { return (uint64_t)(uintptr_t)pointer; }
static uint64_t far_memory(void) { return address_of(memory.far); }
static uct_iov_t near_part(size_t bytes) {
  return (uct_iov_t){.buffer = memory.near, .length = bytes, .memh = registered, .count = 1};
}

typedef ucs_status_t (*operation)(uct_completion_t* completion);

static size_t pack(void* to, void* bytes) {
  memcpy(to, memory.near, *(size_t*)bytes);
  return *(size_t*)bytes;
}
static void unpack(void* to, const void* from, size_t bytes) { memcpy(to, from, bytes); }
static ucs_status_t status_of(ssize_t length) { return length < 0 ? (ucs_status_t)length : UCS_OK; }

static ucs_status_t put_short(uct_completion_t* completion) {
  (void)completion;
  return uct_ep_put_short(pair.near.endpoint, memory.near, kBytes, far_memory(), key.rkey);
}
static ucs_status_t put_bcopy(uct_completion_t* completion) {
  size_t bytes = kLong;
  (void)completion;
  return status_of(uct_ep_put_bcopy(pair.near.endpoint, pack, &bytes, far_memory(), key.rkey));
}
static ucs_status_t put_zcopy(uct_completion_t* completion) {
  const uct_iov_t part = near_part(kLong);
  return uct_ep_put_zcopy(pair.near.endpoint, &part, 1, far_memory(), key.rkey, completion);
}
static ucs_status_t get_short(uct_completion_t* completion) {
  (void)completion;
  return uct_ep_get_short(pair.near.endpoint, memory.near, kBytes, far_memory(), key.rkey);
}
static ucs_status_t get_bcopy(uct_completion_t* completion) {
  return uct_ep_get_bcopy(pair.near.endpoint, unpack, memory.near, kLong, far_memory(), key.rkey,
                          completion);
}
static ucs_status_t get_zcopy(uct_completion_t* completion) {
  const uct_iov_t part = near_part(kLong);
  return uct_ep_get_zcopy(pair.near.endpoint, &part, 1, far_memory(), key.rkey, completion);
}
static ucs_status_t am_short(uct_completion_t* completion) {
  (void)completion;
  return uct_ep_am_short(pair.near.endpoint, kAmId, 7, memory.near, kBytes);
}
static ucs_status_t am_short_iov(uct_completion_t* completion) {
  uct_iov_t parts[] = {near_part(kBytes), near_part(8)};
  (void)completion;
  return uct_ep_am_short_iov(pair.near.endpoint, kAmId, parts, 2);
}
static ucs_status_t am_bcopy(uct_completion_t* completion) {
  size_t bytes = kLong;
  (void)completion;
  return status_of(uct_ep_am_bcopy(pair.near.endpoint, kAmId, pack, &bytes, 0));
}
static ucs_status_t am_zcopy(uct_completion_t* completion) {
  const uct_iov_t part = near_part(kLong);
  const uint64_t header = 7;
  return uct_ep_am_zcopy(pair.near.endpoint, kAmId, &header, sizeof header, &part, 1, 0,
                         completion);
}
static ucs_status_t cswap32(uct_completion_t* completion) {
  return uct_ep_atomic_cswap32(pair.near.endpoint, memory.narrow, memory.narrow + 1,
                               address_of(&memory.narrow), key.rkey, &memory.narrow_result,
                               completion);
}
static ucs_status_t cswap64(uct_completion_t* completion) {
  return uct_ep_atomic_cswap64(pair.near.endpoint, memory.wide, memory.wide + 1,
                               address_of(&memory.wide), key.rkey, &memory.wide_result, completion);
}
static ucs_status_t atomic32_post(uct_completion_t* completion) {
  (void)completion;
  return uct_ep_atomic32_post(pair.near.endpoint, UCT_ATOMIC_OP_ADD, 1, address_of(&memory.narrow),
                              key.rkey);
}
static ucs_status_t atomic64_post(uct_completion_t* completion) {
  (void)completion;
  return uct_ep_atomic64_post(pair.near.endpoint, UCT_ATOMIC_OP_ADD, 1, address_of(&memory.wide),
                              key.rkey);
}
static ucs_status_t atomic32_fetch(uct_completion_t* completion) {
  return uct_ep_atomic32_fetch(pair.near.endpoint, UCT_ATOMIC_OP_ADD, 1, &memory.narrow_result,
                               address_of(&memory.narrow), key.rkey, completion);
}
static ucs_status_t atomic64_fetch(uct_completion_t* completion) {
  return uct_ep_atomic64_fetch(pair.near.endpoint, UCT_ATOMIC_OP_ADD, 1, &memory.wide_result,
                               address_of(&memory.wide), key.rkey, completion);
}
static ucs_status_t ep_flush(uct_completion_t* completion) {
  return uct_ep_flush(pair.near.endpoint, UCT_FLUSH_FLAG_LOCAL, completion);
}
static ucs_status_t ep_fence(uct_completion_t* completion) {
  (void)completion;
  return uct_ep_fence(pair.near.endpoint, 0);
}
static ucs_status_t ep_check(uct_completion_t* completion) {
  (void)completion;
  return uct_ep_check(pair.near.endpoint, 0, NULL);
}
static ucs_status_t iface_flush(uct_completion_t* completion) {
  return uct_iface_flush(pair.near.iface, UCT_FLUSH_FLAG_LOCAL, completion);
}

static const struct {
  const char* name;
  operation post;
} kOperations[] = {
    {"put_short", put_short},
    {"put_bcopy", put_bcopy},
    {"put_zcopy", put_zcopy},
    {"get_short", get_short},
    {"get_bcopy", get_bcopy},
    {"get_zcopy", get_zcopy},
    {"am_short", am_short},
    {"am_short_iov", am_short_iov},
    {"am_bcopy", am_bcopy},
    {"am_zcopy", am_zcopy},
    {"cswap32", cswap32},
    {"cswap64", cswap64},
    {"atomic32_post", atomic32_post},
    {"atomic64_post", atomic64_post},
    {"atomic32_fetch", atomic32_fetch},
    {"atomic64_fetch", atomic64_fetch},
    {"ep_flush", ep_flush},
    {"ep_fence", ep_fence},
    {"ep_check", ep_check},
    {"iface_flush", iface_flush},
};
enum { kOperationCount = sizeof kOperations / sizeof *kOperations };
