// What the recorder keeps of the program's active messages: the same on both sides, and from the
// most distinctive part.
#include "uct-shim/am_header.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

namespace uctrace::uct {
namespace {

using wire::AmId;

// First word, data, the program's header, UCP's footer.
std::vector<unsigned char> message(std::size_t data, std::uint64_t header, std::size_t footer) {
  std::vector<unsigned char> bytes(8 + data + header + footer);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 7 + 3);
  const std::uint64_t first_word = 5 | header << 32;
  std::memcpy(bytes.data(), &first_word, sizeof first_word);
  return bytes;
}

std::uint64_t digest(AmId id, const std::vector<unsigned char>& bytes) {
  std::uint64_t words[wire::kMaxWords]{};
  REQUIRE(keep_words(words, static_cast<std::uint8_t>(id), bytes.data(), bytes.size()) == 2);
  return words[1];
}

// The bytes that change it, as [first, last].
std::pair<std::size_t, std::size_t> told_by(AmId id, std::vector<unsigned char> bytes,
                                            std::size_t from) {
  const std::uint64_t before = digest(id, bytes);
  std::vector<std::size_t> places;
  for (std::size_t i = from; i < bytes.size(); ++i) {
    bytes[i] ^= 0x80;
    if (digest(id, bytes) != before) places.push_back(i);
    bytes[i] ^= 0x80;
  }
  REQUIRE(!places.empty());
  CHECK(places.size() == places.back() - places.front() + 1);
  return {places.front(), places.back()};
}

using Places = std::pair<std::size_t, std::size_t>;

TEST_CASE("am_header: a digest is of the program's header, wherever its data ends") {
  CHECK(told_by(AmId::am_single, message(0, 20, 0), 8) == Places{8, 27});
  CHECK(told_by(AmId::am_single, message(1000, 88, 0), 8) == Places{1008, 1095});
  CHECK(told_by(AmId::am_single_reply, message(1000, 24, 8), 8) == Places{1008, 1039});
  CHECK(told_by(AmId::am_first, message(1000, 24, 24), 8) == Places{1008, 1055});
}

TEST_CASE("am_header: else of UCP's footer, else of the data") {
  CHECK(told_by(AmId::am_first, message(1000, 0, 24), 8) == Places{1008, 1031});
  CHECK(told_by(AmId::am_single, message(40, 0, 0), 8) == Places{8, 47});
  // The first word of a fragment that is not the first is an offset.
  CHECK(told_by(AmId::am_middle, message(1000, 3, 13), 8) == Places{1008, 1023});
  CHECK(told_by(AmId::am_first_psn, message(1000, 24, 24), 8) == Places{1008, 1055});
  CHECK(told_by(AmId::am_middle_psn, message(1000, 3, 13), 8) == Places{1008, 1023});
}

TEST_CASE("am_header: a digest is of so many bytes at most") {
  CHECK(told_by(AmId::am_single, message(1000, 0, 0), 8) == Places{8, 8 + kDigested - 1});
  CHECK(told_by(AmId::am_single, message(0, 1000, 0), 8) == Places{8, 8 + kDigested - 1});
}

TEST_CASE("am_header: lengths of headers that cannot be are survived") {
  std::vector<unsigned char> bytes = message(40, 0, 0);
  std::memset(bytes.data(), 0xff, 8);
  CHECK(told_by(AmId::am_single, bytes, 8) == Places{8, 47});
  std::uint64_t words[wire::kMaxWords]{};
  constexpr auto kSingle = static_cast<std::uint8_t>(AmId::am_single);
  CHECK(keep_words(words, kSingle, bytes.data(), 15) == 1);
  CHECK(keep_words(words, kSingle, bytes.data(), 7) == 0);
}

}  // namespace
}  // namespace uctrace::uct
