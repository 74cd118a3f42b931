#include "cli/command-line/time_option.hpp"

#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdio>
#include <random>
#include <string>

namespace uctrace::cli {
namespace {

TEST_CASE("times: every unit, with and without a fraction") {
  CHECK(parse_time_ns("0") == 0);
  CHECK(parse_time_ns("2") == 2'000'000'000);
  CHECK(parse_time_ns("1.25s") == 1'250'000'000);
  CHECK(parse_time_ns(".5s") == 500'000'000);
  CHECK(parse_time_ns("5.s") == 5'000'000'000);
  CHECK(parse_time_ns("300ms") == 300'000'000);
  CHECK(parse_time_ns("0.000001ms") == 1);
  CHECK(parse_time_ns("40us") == 40'000);
  CHECK(parse_time_ns("1.5us") == 1'500);
  CHECK(parse_time_ns("7ns") == 7);
  CHECK(parse_time_ns("7.000ns") == std::nullopt);
}

TEST_CASE("times: what is none, or not exact, is refused") {
  for (const char* text : {"",
                           "s",
                           ".",
                           ".s",
                           "-1",
                           "+1",
                           "1 s",
                           " 1",
                           "1s ",
                           "1m",
                           "1h",
                           "1S",
                           "s1",
                           "1.2.3",
                           "1e3",
                           "0x10",
                           "nan",
                           "inf",
                           "1.0000000001s",
                           "1.5ns",
                           "1.0001us",
                           "1,5",
                           "\xc2\xb5s"}) {
    CAPTURE(text);
    CHECK(parse_time_ns(text) == std::nullopt);
  }
}

TEST_CASE("times: the greatest, and what does not fit") {
  CHECK(parse_time_ns("9223372036854775807ns") == INT64_MAX);
  CHECK(parse_time_ns("9223372036.854775807") == INT64_MAX);
  CHECK(parse_time_ns("9223372036854775808ns") == std::nullopt);
  CHECK(parse_time_ns("9223372036.854775808") == std::nullopt);
  CHECK(parse_time_ns(std::string(500, '9') + "s") == std::nullopt);
  CHECK(parse_time_ns(std::string(500, '0') + "3s") == 3'000'000'000);
}

TEST_CASE("times: what is printed to the nanosecond is read back") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t ns = random() >> (1 + random() % 60);
    char text[40];
    std::snprintf(text, sizeof text, "%" PRIu64 ".%09" PRIu64 "s", ns / 1'000'000'000,
                  ns % 1'000'000'000);
    CAPTURE(text);
    CHECK(parse_time_ns(text) == ns);
    CHECK(parse_time_ns(std::to_string(ns) + "ns") == ns);
  }
}

}  // namespace
}  // namespace uctrace::cli
