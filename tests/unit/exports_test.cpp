// What exports are made of: lanes, messages of Protocol Buffers, new folders.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <random>
#include <system_error>

#include "log-merger/exports/lanes.hpp"
#include "log-merger/exports/protobuf.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/folder/new_folder.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace::exports {
namespace {

namespace fs = std::filesystem;

TEST_CASE("an operation takes the first lane that is free, as a search of all finds it") {
  std::mt19937 random(1);
  for (int run = 0; run < 50; ++run) {
    Lanes lanes;
    std::vector<std::int64_t> busy_until;
    std::int64_t start_ns = 0;
    for (int i = 0; i < 300; ++i) {
      start_ns += random() % 3;
      const std::int64_t end_ns = start_ns + random() % 12;
      std::size_t expected = 0;
      while (expected < busy_until.size() && busy_until[expected] > start_ns) ++expected;
      if (expected == busy_until.size()) busy_until.push_back(0);
      busy_until[expected] = end_ns;
      REQUIRE(lanes.take(start_ns, end_ns) == expected);
    }
  }
}

TEST_CASE("operations out of their order, or without an end, share no lane that is not free") {
  Lanes lanes;
  CHECK(lanes.take(10, INT64_MAX) == 0);
  CHECK(lanes.take(20, 30) == 1);
  CHECK(lanes.take(30, 40) == 1);
  CHECK(lanes.take(25, 28) == 2);  // lane 1 was not free then
  CHECK(lanes.take(41, 42) == 1);
}

// The examples of https://protobuf.dev/programming-guides/encoding/
TEST_CASE("messages of Protocol Buffers are bytes as their documentation has them") {
  ProtoMessage number, text, nested;
  number.varint(1, 150);
  CHECK(number.text() == "\x08\x96\x01");
  text.bytes(2, "testing");
  CHECK(text.text() == "\x12\x07testing");
  nested.message(3, number);
  CHECK(nested.text() == "\x1a\x03\x08\x96\x01");
  ProtoMessage more;
  more.varint(1, UINT64_MAX);
  CHECK(more.text() == "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  ProtoMessage fixed;
  fixed.fixed64(47, 1);
  CHECK(fixed.text() == std::string("\xf9\x02\x01\0\0\0\0\0\0\0", 10));
  ProtoMessage real;
  real.number(1, 1.0);
  CHECK(real.text() == std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
}

bool is_taken(const fs::path& path) {
  try {
    const NewFolder folder(path);
    return false;
  } catch (const std::system_error& error) {
    return error.code() == std::errc::file_exists;
  }
}

TEST_CASE("a new folder has its name once it is whole, and takes nobody's place") {
  const test::TemporaryFolder scratch;
  const fs::path wanted = scratch.path() / "wanted";
  {
    const NewFolder given_up(wanted);
    std::ofstream(given_up.path() / "file") << "text";
  }
  CHECK(fs::is_empty(scratch.path()));
  {
    NewFolder folder(wanted / "");  // with a slash at its end
    std::ofstream(folder.path() / "file") << "text";
    CHECK_FALSE(fs::exists(wanted));
    folder.publish();
  }
  CHECK(fs::file_size(wanted / "file") == 4);
  CHECK(is_taken(wanted));
  fs::create_symlink("nowhere", scratch.path() / "link");
  CHECK(is_taken(scratch.path() / "link"));
  {
    NewFolder late(scratch.path() / "late");
    std::ofstream(scratch.path() / "late") << "of another";
    CHECK_THROWS_AS(late.publish(), std::system_error);
  }
  CHECK(fs::file_size(scratch.path() / "late") == 10);
}

TEST_CASE("a file that must be new takes nobody's place either") {
  const test::TemporaryFolder scratch;
  const fs::path wanted = scratch.path() / "wanted";
  {
    NewFile file(wanted);
    file.write("mine");
    file.publish_new();
  }
  CHECK(fs::file_size(wanted) == 4);
  NewFile second(wanted);
  second.write("another one");
  CHECK_THROWS_AS(second.publish_new(), std::system_error);
  CHECK(fs::file_size(wanted) == 4);
}

}  // namespace
}  // namespace uctrace::exports
