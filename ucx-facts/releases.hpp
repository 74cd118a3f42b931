// What uctrace knows of each release of UCX that no installed header says: one row a release. The
// shims in the job, `uctrace check` before it, build-ucx and the merger after it read the same
// rows.
//
// A new release is a row here; a release without one switches the UCX layers off, with a sentence.
// tests/ucx-sources holds each row against the sources of UCX, and test_ucx_facts.py against what
// that measured; tests/ucx-matrix runs jobs over it (docs/ucx-matrix.md). What is the same in all
// releases is where it is used (event-log/format/ucp_wire.hpp: ids and headers of active messages
// on the wire; uct-shim/operations.hpp: the slots of an interface's table), and compared as well.
#pragma once

#include <cstddef>
#include <cstdint>

namespace uctrace::ucx {

inline constexpr unsigned kMajor = 1;

// Of ucp_request_t, in bytes: its size, which UCP tells and which differs with assertions, and
// where send.state.uct_comp and send.uct are in it.
struct RequestPlaces {
  std::uint16_t size, completion, request;
};

// Of struct ucp_proto, in bytes: where the function that adds it is, the one that describes it, and
// the first of its stages. In 1.17 a protocol is added by either of two.
struct ProtocolPlaces {
  std::uint8_t add[2], query, progress;
};

struct Release {
  unsigned minor;
  bool compared;              // tables of operations, and what UCP sends, are as in those before
  RequestPlaces requests[2];  // of builds without and with assertions; size 0: not measured
  // Of which its table may be; the table itself tells of which it is. None: it has no table, and
  // the names of protocols are not to be had.
  ProtocolPlaces protocols[2];
  std::uint8_t memory_types;  // of ucs_memory_type_t, which grows at its end
  bool tells_memory;          // ucs_memory_info_t begins with the type and the device
  bool protocols_v2;          // are what it uses if the user says nothing
  bool has_patch;             // patches/ucx-hooks.patch is made for it
  bool names_places;          // the log has those of all fragments (ucp_wire.hpp)
  bool posts_by_nbx;          // ucp_atomic_post calls ucp_atomic_op_nbx
  std::uint8_t worker_uid;    // its place in a worker's address; 0: a function of UCP tells it

  constexpr bool has_protocol_table() const { return protocols[0].progress != 0; }
  constexpr bool is_complete() const {
    return compared && requests[0].size != 0 && memory_types != 0 &&
           (has_protocol_table() || !protocols_v2);
  }
};

namespace detail {

constexpr RequestPlaces k11{272, 160, 216}, k12{280, 160, 232};
constexpr RequestPlaces k13{264, 144, 216}, k13Checked{272, 152, 224};
constexpr RequestPlaces k20{272, 144, 224}, k20Checked{280, 152, 232};
// 1.23.0 rc1 has two words more than its sources had two months before.
constexpr ProtocolPlaces kFirst{{24, 24}, 32, 40}, kLonger{{32, 32}, 40, 48};
constexpr ProtocolPlaces kEither{{24, 32}, 40, 48};

// minor, compared, requests, places of protocols, memory types, tells memory, v2, patch,
// names places, posts by nbx, uid
constexpr Release kReleases[] = {
    {11, true, {k11}, {}, 5, false, false, false, false, false, 1},
    {12, true, {k12}, {}, 5, true, false, true, true, true, 0},
    {13, true, {k13, k13Checked}, {kFirst}, 5, true, false, true, true, true, 0},
    {14, true, {k13, k13Checked}, {kFirst}, 5, true, false, true, true, true, 0},
    {15, true, {k13, k13Checked}, {kFirst}, 5, true, false, true, true, true, 0},
    {16, true, {k13, k13Checked}, {kFirst}, 6, true, true, true, true, true, 0},
    {17, true, {k13, k13Checked}, {kEither}, 9, true, true, true, true, true, 0},
    {18, true, {k13, k13Checked}, {kFirst}, 9, true, true, true, true, true, 0},
    {19, true, {k13, k13Checked}, {kFirst}, 9, true, true, true, true, true, 0},
    {20, true, {k20, k20Checked}, {kFirst}, 9, true, true, true, true, true, 0},
    {21, true, {k20, k20Checked}, {kFirst}, 10, true, true, true, true, true, 0},
    {22, true, {k20Checked}, {kFirst}, 10, true, true, true, true, true, 0},
    {23, true, {k20Checked}, {kFirst, kLonger}, 10, true, true, true, true, true, 0},
};

}  // namespace detail

// In the order of their numbers, none left out.
inline constexpr auto& kReleases = detail::kReleases;
inline constexpr const Release& kOldest = kReleases[0];
inline constexpr const Release& kNewest = kReleases[sizeof kReleases / sizeof *kReleases - 1];

// nullptr: nothing is known of it, and it is left alone.
constexpr const Release* find_release(unsigned major, unsigned minor) {
  if (major != kMajor) return nullptr;
  for (const Release& release : kReleases) {
    if (release.minor == minor) return &release;
  }
  return nullptr;
}

namespace detail {
constexpr bool all_are_complete() {
  unsigned minor = kOldest.minor;
  for (const Release& release : kReleases) {
    if (release.minor != minor++ || !release.is_complete()) return false;
  }
  return true;
}
static_assert(all_are_complete(), "a release is accepted once its whole row is known");
}  // namespace detail

}  // namespace uctrace::ucx
