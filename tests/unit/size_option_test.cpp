#include "cli/command-line/size_option.hpp"

#include <doctest/doctest.h>

namespace uctrace::cli {
namespace {

TEST_CASE("sizes: plain and with every unit") {
  CHECK(parse_size_bytes("0") == 0);
  CHECK(parse_size_bytes("65536") == 65536);
  CHECK(parse_size_bytes("1K") == 1024);
  CHECK(parse_size_bytes("512KiB") == 512 * 1024);
  CHECK(parse_size_bytes("64M") == 64u << 20);
  CHECK(parse_size_bytes("64MB") == 64u << 20);
  CHECK(parse_size_bytes("2G") == std::uint64_t{2} << 30);
  CHECK(parse_size_bytes("3T") == std::uint64_t{3} << 40);
}

TEST_CASE("sizes: what is none, or too large, is refused") {
  for (const char* text :
       {"", "K", "-1", "+1", " 1", "1 M", "1.5G", "1m", "1Ki", "1Kb", "1KK", "0x10",
        "9223372036854775808", "9007199254740992K", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK(parse_size_bytes(text) == std::nullopt);
  }
  CHECK(parse_size_bytes("9223372036854775807") == INT64_MAX);
}

}  // namespace
}  // namespace uctrace::cli
