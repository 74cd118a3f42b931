// Names of protocols are read from a table whose layout is not the same in all releases of UCX.
// This program plays the libucp that has it.
#include "ucp-shim/protocols.hpp"

#include <doctest/doctest.h>

namespace {

// What stands in struct ucp_proto beside the stages is never called.
using Any = void (*)();
void any() {}

struct Usual {
  const char *name, *description;
  unsigned flags;
  Any add, query;
  uct_pending_callback_t progress[8];
  Any abort, reset;
};
// UCX 1.17: either function adds a protocol.
struct Either {
  const char *name, *description;
  unsigned flags;
  Any probe, init, query;
  uct_pending_callback_t progress[8];
  Any abort, reset;
};
// 1.23.0 rc1.
struct Longer {
  const char *name, *description;
  unsigned flags;
  std::uint64_t more;
  Any add, query;
  uct_pending_callback_t progress[8];
  Any abort, reset;
};

// Each table has functions of its own: one that is in two protocols is of neither.
template <int>
ucs_status_t post(uct_pending_req_t*) {
  return UCS_OK;
}

Usual usual[] = {{"usual/a", "copy", 0, any, any, {post<1>}, any, any},
                 {"usual/b", nullptr, 0, any, any, {post<2>}, any, any}};
Either either[] = {{"either/a", "copy", 0, any, nullptr, any, {post<3>}, any, any},
                   {"either/b", nullptr, 0, nullptr, any, any, {post<4>}, any, any}};
Longer longer[] = {{"longer/a", "copy", 0, 7, any, any, {post<5>}, any, any},
                   {"longer/b", nullptr, 0, 7, any, any, {post<6>}, any, any}};
Either incomplete[] = {{"incomplete/a", "copy", 0, any, nullptr, any, {post<7>}, any, any},
                       {"incomplete/b", "copy", 0, nullptr, nullptr, any, {post<8>}, any, any}};

}  // namespace

extern "C" {
void* ucp_protocols[2];
unsigned ucp_protocols_count() { return 2; }
}

namespace uctrace::ucp {
namespace {

// Whether both functions are known afterwards, as those of two protocols.
template <typename Protocol>
bool are_known(Protocol (&table)[2], unsigned minor) {
  ucp_protocols[0] = &table[0];
  ucp_protocols[1] = &table[1];
  use_protocols(reinterpret_cast<const void*>(ucp_protocols_count), *ucx::find_release(1, minor),
                true);
  const std::uint8_t a = protocol_of(table[0].progress[0]), b = protocol_of(table[1].progress[0]);
  return a != 0 && b != 0 && a != b;
}

TEST_CASE("protocols: the names in the tables of all layouts are found") {
  CHECK(are_known(usual, 16));
  CHECK(are_known(either, 17));
  CHECK(are_known(usual, 18));
  CHECK(are_known(usual, 23));
  CHECK(are_known(longer, 23));
}

TEST_CASE("protocols: a table in which one cannot be added is left alone") {
  CHECK_FALSE(are_known(incomplete, 17));
}

}  // namespace
}  // namespace uctrace::ucp
