// The part of an active message that is kept: its first words, with which UCP's header begins, and
// for the program's own messages a digest. Nothing in UCX's headers tells the sender of the latter,
// and no handler learns it. But the program's header mostly differs: it has a rank, or the address
// of a request. Messages with different digests are different. Messages with the same digest may
// still be different, and the merger does not take them for the same.
//
// The digest covers the program's header and UCP's footer, which end a message, or the data if it
// has neither; at most kDigested bytes.
//
// Cost of a digest: a load, two multiplications and an addition for each eight bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/ucp_wire.hpp"

namespace uctrace::uct {

inline constexpr std::size_t kDigested = 128;

// How many words to keep of a message with `bytes` readable bytes.
inline std::uint8_t words_to_keep(std::uint8_t am_id, std::uint64_t bytes) {
  const std::uint64_t available = bytes / sizeof(std::uint64_t);
  const std::uint8_t wanted = wire::shape_of(am_id).words;
  return available < wanted ? static_cast<std::uint8_t>(available) : wanted;
}

// The program's header and UCP's footer.
inline std::size_t end_bytes(std::uint8_t am_id, std::uint64_t first_word) {
  return wire::shape_of(am_id).header_bytes - sizeof first_word +
         wire::program_header_bytes(am_id, first_word);
}

struct Part {
  std::size_t begin, bytes;
};

// The part that the digest covers, among the `bytes` after the first word.
inline Part digested_part(std::uint8_t am_id, std::uint64_t first_word, std::size_t bytes) {
  const std::size_t end = end_bytes(am_id, first_word);
  const std::size_t begin = 0 < end && end < bytes ? bytes - end : 0;
  const std::size_t rest = bytes - begin;
  return {begin, rest < kDigested ? rest : kDigested};
}

inline std::uint64_t digest_of(const void* part, std::size_t bytes) {
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15u;  // odd: no bit of a word gets lost
  const auto* at = static_cast<const unsigned char*>(part);
  std::uint64_t digest = bytes, factor = kStep;
  for (; bytes >= sizeof digest; bytes -= sizeof digest, at += sizeof digest) {
    std::uint64_t word;
    __builtin_memcpy(&word, at, sizeof word);
    digest += word * factor;
    factor *= kStep;
  }
  for (; bytes > 0; --bytes, ++at) {
    digest += *at * factor;
    factor *= kStep;
  }
  return digest;
}

// For a message in one piece. Returns how many words are kept.
inline std::uint8_t keep_words(std::uint64_t* words, std::uint8_t am_id, const void* message,
                               std::size_t bytes) {
  const std::uint8_t keep = words_to_keep(am_id, bytes);
  const bool digest = keep > 1 && wire::shape_of(am_id).digest;
  wire::copy_words(words, message, digest ? 1 : keep);
  if (digest) [[unlikely]] {
    const Part part = digested_part(am_id, words[0], bytes - sizeof *words);
    words[1] =
        digest_of(static_cast<const char*>(message) + sizeof *words + part.begin, part.bytes);
  }
  return keep;
}

}  // namespace uctrace::uct
