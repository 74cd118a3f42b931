#include "log-merger/mpi/tag_layout.hpp"

#include <doctest/doctest.h>

namespace uctrace::merge {
namespace {

TEST_CASE("Open MPI: tag 24, source 20, context 20 bits") {
  const auto tag = decode_tag(MpiFlavour::open_mpi,
                              std::uint64_t{123} << 40 | std::uint64_t{0xabcde} << 20 | 0xfffff);
  REQUIRE(tag);
  CHECK(tag->tag == 123);
  CHECK(tag->source == 0xabcde);
  CHECK(tag->context == 0xfffff);
  CHECK_FALSE(tag->collective);
}

TEST_CASE("Open MPI: tags of collectives are negative") {
  const auto tag = decode_tag(MpiFlavour::open_mpi,
                              static_cast<std::uint64_t>(std::int64_t{-12}) << 40 | 3u << 20 | 1);
  REQUIRE(tag);
  CHECK(tag->tag == -12);
  CHECK(tag->source == 3);
  CHECK(tag->context == 1);
  CHECK(tag->collective);
}

TEST_CASE("MPICH: context 16, source 16, tag 32 bits; collectives have odd contexts") {
  const std::uint64_t bits = std::uint64_t{0x1234} << 48 | std::uint64_t{0x8765} << 32 | 42;
  const auto tag = decode_tag(MpiFlavour::mpich, bits);
  REQUIRE(tag);
  CHECK(tag->context == 0x1234);
  CHECK(tag->source == 0x8765);
  CHECK(tag->tag == 42);
  CHECK_FALSE(tag->collective);
  CHECK(decode_tag(MpiFlavour::mpich, bits | std::uint64_t{1} << 48)->collective);
}

TEST_CASE("MPICH: error bits are no part of the tag, its own messages have none") {
  CHECK(decode_tag(MpiFlavour::mpich, 0x60000000u | 9)->tag == 9);
  CHECK_FALSE(decode_tag(MpiFlavour::mpich, 0x80000000u | 9));
}

TEST_CASE("without MPI there is no MPI tag") { CHECK_FALSE(decode_tag(MpiFlavour::none, 1)); }

}  // namespace
}  // namespace uctrace::merge
