// What is read out of the arguments of UCC's functions, beside a plain sum over what each member
// gets. The layouts are compared with ucc.h by tests/unit/library_table_test.py.
#include "library-attribution/ucc_arguments.hpp"

#include <doctest/doctest.h>
#include <ucc/api/ucc.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "event-log/format/ucc_operations.hpp"

namespace uctrace::library {
namespace {

constexpr std::uint64_t kTeam = 0x7f0000001000;

// Of four members, this process is the third.
struct TeamOfFour {
  TeamOfFour() {
    ucc_team_params_t params{};
    params.mask =
        UCC_TEAM_PARAM_FIELD_EP | UCC_TEAM_PARAM_FIELD_EP_RANGE | UCC_TEAM_PARAM_FIELD_OOB;
    params.ep = 2;
    params.ep_range = UCC_COLLECTIVE_EP_RANGE_CONTIG;
    params.oob.n_oob_eps = 4;
    params.oob.oob_ep = 2;
    remember_ucc_team(kTeam, &params);
  }
  ~TeamOfFour() { forget_ucc_team(kTeam); }
};

ucc_coll_args_t arguments_of(ucc_coll_type_t type) {
  ucc_coll_args_t arguments{};
  arguments.coll_type = type;
  return arguments;
}

UccArguments told(const ucc_coll_args_t& arguments) {
  return read_ucc_arguments(&arguments, kTeam);
}

void be_in_place(ucc_coll_args_t& arguments, std::uint64_t more = 0) {
  arguments.mask |= UCC_COLL_ARGS_FIELD_FLAGS;
  arguments.flags |= UCC_COLL_ARGS_FLAG_IN_PLACE | more;
}

}  // namespace

TEST_CASE("a collective operation of one buffer puts in what its source holds") {
  const TeamOfFour team;
  for (const auto type : {UCC_COLL_TYPE_ALLREDUCE, UCC_COLL_TYPE_ALLGATHER, UCC_COLL_TYPE_ALLTOALL,
                          UCC_COLL_TYPE_REDUCE_SCATTER}) {
    CAPTURE(type);
    ucc_coll_args_t arguments = arguments_of(type);
    arguments.src.info = {nullptr, 10, UCC_DT_FLOAT64, UCC_MEMORY_TYPE_HOST};
    arguments.dst.info = {nullptr, 40, UCC_DT_INT32, UCC_MEMORY_TYPE_HOST};
    const UccArguments read = told(arguments);
    CHECK(read.bytes == 80);
    CHECK(read.knows_bytes);
    CHECK(read.root == kUctraceNoPeer);
    CHECK(read.number == static_cast<std::uint32_t>(__builtin_ctz(type)));
    be_in_place(arguments);
    CHECK(told(arguments).bytes == (type == UCC_COLL_TYPE_ALLGATHER ? 40 : 160));
  }
}

TEST_CASE("only the root of a broadcast or scatter puts in something") {
  const TeamOfFour team;
  for (const auto type : {UCC_COLL_TYPE_BCAST, UCC_COLL_TYPE_SCATTER}) {
    ucc_coll_args_t arguments = arguments_of(type);
    arguments.src.info = {nullptr, 10, UCC_DT_INT32, UCC_MEMORY_TYPE_HOST};
    arguments.root = 1;
    CHECK(told(arguments).bytes == 0);
    CHECK(told(arguments).root == 1);
    arguments.root = 2;
    CHECK(told(arguments).bytes == 40);
  }
}

TEST_CASE("in place, the root's part stands where it receives") {
  const TeamOfFour team;
  for (const auto& [type, bytes] :
       {std::pair{UCC_COLL_TYPE_REDUCE, 32u}, {UCC_COLL_TYPE_GATHER, 8u}}) {
    ucc_coll_args_t arguments = arguments_of(type);
    arguments.src.info = {nullptr, 3, UCC_DT_INT32, UCC_MEMORY_TYPE_HOST};
    arguments.dst.info = {nullptr, 8, UCC_DT_INT32, UCC_MEMORY_TYPE_HOST};
    be_in_place(arguments);
    arguments.root = 2;
    CHECK(told(arguments).bytes == bytes);
    arguments.root = 0;
    CHECK(told(arguments).bytes == 12);
  }
}

TEST_CASE("counts of each member are of 32 or 64 bits") {
  const TeamOfFour team;
  std::uint32_t narrow[] = {1, 20, 300, 4000};
  std::uint64_t wide[] = {1, 20, 300, 4000};
  for (const bool is_wide : {false, true}) {
    CAPTURE(is_wide);
    ucc_coll_args_t arguments = arguments_of(UCC_COLL_TYPE_ALLTOALLV);
    arguments.mask = UCC_COLL_ARGS_FIELD_FLAGS;
    arguments.flags = is_wide ? UCC_COLL_ARGS_FLAG_COUNT_64BIT : 0;
    const auto each =
        ucc_coll_buffer_info_v_t{nullptr, is_wide ? wide : reinterpret_cast<std::uint64_t*>(narrow),
                                 nullptr, UCC_DT_INT32, UCC_MEMORY_TYPE_HOST};
    arguments.src.info_v = each;
    CHECK(told(arguments).bytes == 4 * 4321);
    arguments.coll_type = UCC_COLL_TYPE_SCATTERV;
    arguments.root = 2;
    CHECK(told(arguments).bytes == 4 * 4321);
    arguments.src.info_v = {};
    arguments.dst.info_v = each;
    be_in_place(arguments);
    for (const auto& [type, bytes] : {std::pair{UCC_COLL_TYPE_ALLGATHERV, 4 * 300},
                                      {UCC_COLL_TYPE_GATHERV, 4 * 300},
                                      {UCC_COLL_TYPE_REDUCE_SCATTERV, 4 * 4321}}) {
      arguments.coll_type = type;
      CHECK(told(arguments).bytes == static_cast<std::uint64_t>(bytes));
    }
  }
}

// Endpoints need not be the members' numbers: a count that lies there is not read.
TEST_CASE("a member's number is its endpoint only where UCC takes it for that") {
  struct Case {
    std::uint64_t mask, ep;
    ucc_ep_range_type_t range;
    std::uint32_t oob_ep;
    std::int64_t member;  // -1: not known
  };
  constexpr std::uint64_t kEp = UCC_TEAM_PARAM_FIELD_EP, kRange = UCC_TEAM_PARAM_FIELD_EP_RANGE,
                          kOob = UCC_TEAM_PARAM_FIELD_OOB, kSize = UCC_TEAM_PARAM_FIELD_TEAM_SIZE;
  constexpr auto kContiguous = UCC_COLLECTIVE_EP_RANGE_CONTIG,
                 kOther = UCC_COLLECTIVE_EP_RANGE_NONCONTIG;
  std::uint32_t counts[] = {1, 2, 3, 4};
  ucc_coll_args_t arguments = arguments_of(UCC_COLL_TYPE_ALLGATHERV);
  arguments.dst.info_v = {nullptr, reinterpret_cast<std::uint64_t*>(counts), nullptr, UCC_DT_INT8,
                          UCC_MEMORY_TYPE_HOST};
  be_in_place(arguments);
  for (const Case& given : {Case{kEp | kRange | kOob, 1, kContiguous, 3, 1},
                            {kEp | kRange | kOob, 1'000'000'000, kOther, 3, 3},
                            {kEp | kOob, 1'000'000'000, kContiguous, 3, 3},
                            {kEp | kRange | kOob, 4, kContiguous, 3, -1},
                            {kEp | kRange | kSize, 2, kContiguous, 0, 2},
                            {kEp | kSize, 2, kContiguous, 0, -1},
                            {kEp | kRange, 2, kContiguous, 0, -1}}) {
    CAPTURE(given.mask);
    CAPTURE(given.ep);
    ucc_team_params_t params{};
    params.mask = given.mask;
    params.ep = given.ep;
    params.ep_range = given.range;
    params.team_size = 4;
    params.oob.n_oob_eps = 4;
    params.oob.oob_ep = given.oob_ep;
    remember_ucc_team(kTeam, &params);
    const UccArguments read = told(arguments);
    CHECK(read.knows_bytes == (given.member >= 0));
    if (given.member >= 0) CHECK(read.bytes == static_cast<std::uint64_t>(given.member + 1));
    forget_ucc_team(kTeam);
  }
  const TeamOfFour team;
  arguments.dst.info_v.counts = nullptr;
  CHECK_FALSE(told(arguments).knows_bytes);
}

TEST_CASE("what the arguments do not tell is not known, and not zero") {
  ucc_coll_args_t arguments = arguments_of(UCC_COLL_TYPE_ALLTOALLV);
  arguments.src.info_v.datatype = UCC_DT_INT32;
  CHECK_FALSE(told(arguments).knows_bytes);  // a team that nobody told of: counts are not read
  arguments = arguments_of(UCC_COLL_TYPE_BCAST);
  CHECK_FALSE(told(arguments).knows_bytes);
  arguments = arguments_of(UCC_COLL_TYPE_ALLREDUCE);
  arguments.src.info = {nullptr, 5, 0x7f0000002001,
                        UCC_MEMORY_TYPE_HOST};  // the program's own datatype
  CHECK_FALSE(told(arguments).knows_bytes);
  arguments.src.info.count = 0;
  CHECK(told(arguments).knows_bytes);
  arguments = arguments_of(static_cast<ucc_coll_type_t>(1 << 16));
  CHECK(told(arguments).number == UccArguments::kNoOperation);
  CHECK(told(arguments_of(static_cast<ucc_coll_type_t>(0))).number == UccArguments::kNoOperation);
  CHECK(told(arguments_of(UCC_COLL_TYPE_BARRIER)).knows_bytes);
}

TEST_CASE("a team's size is told by its parameters, and forgotten with it") {
  ucc_team_params_t params{};
  params.mask = UCC_TEAM_PARAM_FIELD_TEAM_SIZE;
  params.team_size = 2;
  std::uint32_t counts[] = {7, 8};
  ucc_coll_args_t arguments = arguments_of(UCC_COLL_TYPE_ALLTOALLV);
  arguments.src.info_v = {nullptr, reinterpret_cast<std::uint64_t*>(counts), nullptr, UCC_DT_INT8,
                          UCC_MEMORY_TYPE_HOST};
  // More teams than there is room for: those that find none are not known.
  std::size_t known = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) remember_ucc_team(0x1000 + 16 * i, &params);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const UccArguments read = read_ucc_arguments(&arguments, 0x1000 + 16 * i);
    if (read.knows_bytes) {
      ++known;
      CHECK(read.bytes == 15);
    }
  }
  CHECK(known == 256);
  for (std::uint64_t i = 0; i < 1000; ++i) forget_ucc_team(0x1000 + 16 * i);
  CHECK_FALSE(read_ucc_arguments(&arguments, 0x1000).knows_bytes);
}

}  // namespace uctrace::library
