// Active messages. Their first words are kept: the layer above puts its ids there.
#include <string.h>

#include "uct-shim/am_header.hpp"
#include "uct-shim/operations.hpp"
#include "uct-shim/short_post.hpp"

namespace uctrace::uct {

using log::UctOp;

namespace {

// Copies a part of the list's data into one piece.
void gather(void* to, const uct_iov_t* iov, std::size_t count, Part part) {
  auto* next = static_cast<unsigned char*>(to);
  for (std::size_t i = 0; i < count && part.bytes > 0; ++i) {
    for (unsigned block = 0; block < iov[i].count && part.bytes > 0; ++block) {
      if (part.begin >= iov[i].length) {
        part.begin -= iov[i].length;
        continue;
      }
      const std::size_t here = iov[i].length - part.begin;
      const std::size_t bytes = here < part.bytes ? here : part.bytes;
      const auto* from = static_cast<const unsigned char*>(iov[i].buffer);
      memcpy(next, from + block * iov[i].stride + part.begin, bytes);
      next += bytes;
      part = {0, part.bytes - bytes};
    }
  }
}

std::uint64_t gathered_digest(const uct_iov_t* iov, std::size_t count, Part part) {
  unsigned char digested[kDigested];
  gather(digested, iov, count, part);
  return digest_of(digested, part.bytes);
}

// Keeps the words of a message in several pieces that the processor can read.
std::uint8_t gather_words(std::uint64_t* words, std::uint8_t am_id, const uct_iov_t* iov,
                          std::size_t count, std::uint64_t bytes) {
  const std::uint8_t keep = words_to_keep(am_id, bytes);
  const bool digest = keep > 1 && wire::shape_of(am_id).digest;
  gather(words, iov, count, {0, (digest ? 1 : keep) * sizeof *words});
  if (digest) {
    const Part part = digested_part(am_id, words[0], bytes - sizeof *words);
    words[1] = gathered_digest(iov, count, {sizeof *words + part.begin, part.bytes});
  }
  return keep;
}

// Whether the list ends in UCP's own memory. If only the first word comes before the data, UCX 1.11
// to 1.22 copy the program's header and the footer into their own memory, as the last element.
bool ends_in_ucp_memory(const uct_iov_t* iov, std::size_t count, std::size_t end) {
  return end > 0 && count > 0 && iov[count - 1].length == end && iov[count - 1].count == 1;
}

// Keeps the words of a zcopy. Its data may be in device memory, unless the transport passes it to
// system calls: only memory that is certainly not a device's is read.
std::uint8_t keep_zcopy_words(std::uint64_t* words, std::uint8_t am_id, const void* header,
                              std::size_t header_length, const uct_iov_t* iov, std::size_t count,
                              const Interface& interface) {
  const std::uint8_t keep = words_to_keep(am_id, header_length);
  if (!wire::shape_of(am_id).digest || keep == 0) {
    wire::copy_words(words, header, keep);
    return keep;
  }
  wire::copy_words(words, header, 1);
  const bool readable =
      interface.by_system ||
      (interface.of_ucp && ends_in_ucp_memory(iov, count, end_bytes(am_id, words[0])));
  const std::size_t data_bytes = total_bytes(iov, count);
  // As for arrivals: a message of less than two words has no second word.
  const bool is_short = words_to_keep(am_id, header_length + data_bytes) < 2;
  if (header_length != sizeof *words || !readable || is_short) {
    return 1;
  }
  const Part part = digested_part(am_id, words[0], data_bytes);
  words[1] = gathered_digest(iov, count, part);
  return 2;
}

// Looks at the header just after it was packed: the only moment when a bcopy's content is visible.
struct PackCapture {
  uct_pack_callback_t pack;
  void* argument;
  std::uint8_t am_id;
  std::uint8_t header_words;
  std::uint64_t header[log::kMaxHeaderWords];  // set as far as these
};

std::size_t pack_and_capture(void* destination, void* argument) {
  auto* capture = static_cast<PackCapture*>(argument);
  const std::size_t length = capture->pack(destination, capture->argument);
  capture->header_words = keep_words(capture->header, capture->am_id, destination, length);
  return length;
}

// None of these is inlined into another: recording needs to save registers and room for a header.
// While operations are only counted or left out, record_...<true> handles those that ShortPost
// leaves to Post.
template <bool kMayCount>
[[gnu::noinline]] ucs_status_t record_am_short(uct_ep_h ep, std::uint8_t id, std::uint64_t header,
                                               const void* payload, unsigned length) {
  Post post(ep->iface, ep, UctOp::am_short, std::bool_constant<kMayCount>{});
  if (post.passes_through()) {
    return post.done<kMayCount>(post.original().ep_am_short(ep, id, header, payload, length));
  }
  // UCP's control messages RTS and RTR continue in the payload. Copied first: a message to self is
  // handled inside the call, and the handler may release the payload.
  std::uint64_t words[1 + wire::kMaxWords] = {header};
  const std::uint8_t keep = words_to_keep(id, sizeof header + length);
  if (keep > 1 && wire::shape_of(id).digest) {
    const Part part = digested_part(id, header, length);
    words[1] = digest_of(static_cast<const char*>(payload) + part.begin, part.bytes);
  } else if (keep > 1) {
    wire::copy_words(words + 1, payload, keep - 1);
  }
  const ucs_status_t status = post.original().ep_am_short(ep, id, header, payload, length);
  return post.done<kMayCount>(status, {.bytes = sizeof header + length,
                                       .local = address_of(payload),
                                       .am_id = id,
                                       .header_words = keep,
                                       .header_bytes = sizeof header,
                                       .header = words});
}

[[gnu::noinline]] ucs_status_t count_am_short(uct_ep_h ep, std::uint8_t id, std::uint64_t header,
                                              const void* payload, unsigned length) {
  ShortPost post(ep);
  if (!post) [[unlikely]]
    return record_am_short<true>(ep, id, header, payload, length);
  const ucs_status_t status = post.original().ep_am_short(ep, id, header, payload, length);
  return post.counted(status, UctOp::am_short, sizeof header + length);
}

[[gnu::noinline]] ucs_status_t leave_out_am_short(uct_ep_h ep, std::uint8_t id,
                                                  std::uint64_t header, const void* payload,
                                                  unsigned length) {
  if (log::Lane* const lane = lane_of_left_out()) {
    if (ShortPost post(ep); post) {
      leave_out(*lane);
      return post.left_out(*lane, post.original().ep_am_short(ep, id, header, payload, length));
    }
  }
  return record_am_short<true>(ep, id, header, payload, length);
}

template <bool kMayCount>
[[gnu::noinline]] ssize_t record_am_bcopy(uct_ep_h ep, std::uint8_t id, uct_pack_callback_t pack,
                                          void* argument, unsigned flags) {
  Post post(ep->iface, ep, UctOp::am_bcopy, std::bool_constant<kMayCount>{});
  if (post.passes_through()) {
    return post.done<kMayCount>(post.original().ep_am_bcopy(ep, id, pack, argument, flags));
  }
  post.is_for<kMayCount>(request_at(argument));
  PackCapture capture;
  capture.pack = pack;
  capture.argument = argument;
  capture.am_id = id;
  capture.header_words = 0;
  const ssize_t length = post.original().ep_am_bcopy(ep, id, pack_and_capture, &capture, flags);
  return post.done<kMayCount>(length, {.bytes = length_or_none(length),
                                       .am_id = id,
                                       .header_words = capture.header_words,
                                       .header = capture.header});
}

[[gnu::noinline]] ssize_t count_am_bcopy(uct_ep_h ep, std::uint8_t id, uct_pack_callback_t pack,
                                         void* argument, unsigned flags) {
  ShortPost post(ep);
  if (!post) [[unlikely]]
    return record_am_bcopy<true>(ep, id, pack, argument, flags);
  const ssize_t length = post.original().ep_am_bcopy(ep, id, pack, argument, flags);
  return post.counted(length, UctOp::am_bcopy, length_or_none(length));
}

[[gnu::noinline]] ssize_t leave_out_am_bcopy(uct_ep_h ep, std::uint8_t id, uct_pack_callback_t pack,
                                             void* argument, unsigned flags) {
  if (log::Lane* const lane = lane_of_left_out()) {
    if (ShortPost post(ep); post) {
      leave_out(*lane);
      return post.left_out(*lane, post.original().ep_am_bcopy(ep, id, pack, argument, flags));
    }
  }
  return record_am_bcopy<true>(ep, id, pack, argument, flags);
}

}  // namespace

ucs_status_t am_short(uct_ep_h ep, std::uint8_t id, std::uint64_t header, const void* payload,
                      unsigned length) {
  if (log::counts_only()) return count_am_short(ep, id, header, payload, length);
  if (log::only_records()) return record_am_short<false>(ep, id, header, payload, length);
  return log::leaves_out() ? leave_out_am_short(ep, id, header, payload, length)
                           : record_am_short<true>(ep, id, header, payload, length);
}

ucs_status_t am_short_iov(uct_ep_h ep, std::uint8_t id, const uct_iov_t* iov, std::size_t count) {
  Post post(ep->iface, ep, UctOp::am_short_iov);
  const std::uint64_t bytes = total_bytes(iov, count);
  std::uint64_t words[log::kMaxHeaderWords]{};
  const std::uint8_t keep = gather_words(words, id, iov, count, bytes);
  const ucs_status_t status = post.original().ep_am_short_iov(ep, id, iov, count);
  return post.done(status, {.bytes = bytes,
                            .local = first_address(iov, count),
                            .am_id = id,
                            .header_words = keep,
                            .header = words});
}

ssize_t am_bcopy(uct_ep_h ep, std::uint8_t id, uct_pack_callback_t pack, void* argument,
                 unsigned flags) {
  if (log::counts_only()) return count_am_bcopy(ep, id, pack, argument, flags);
  if (log::only_records()) return record_am_bcopy<false>(ep, id, pack, argument, flags);
  return log::leaves_out() ? leave_out_am_bcopy(ep, id, pack, argument, flags)
                           : record_am_bcopy<true>(ep, id, pack, argument, flags);
}

ucs_status_t am_zcopy(uct_ep_h ep, std::uint8_t id, const void* header, unsigned header_length,
                      const uct_iov_t* iov, std::size_t count, unsigned flags,
                      uct_completion_t* completion) {
  Post post(ep->iface, ep, UctOp::am_zcopy);
  if (post.passes_through()) {
    return post.done(
        post.original().ep_am_zcopy(ep, id, header, header_length, iov, count, flags, completion));
  }
  // Copied first: the caller may reuse its header as soon as the operation is posted.
  std::uint64_t words[log::kMaxHeaderWords]{};
  const std::uint8_t keep =
      keep_zcopy_words(words, id, header, header_length, iov, count, post.interface());
  const ucs_status_t status = post.original().ep_am_zcopy(ep, id, header, header_length, iov, count,
                                                          flags, post.track(completion));
  return post.done(status, {.bytes = header_length + total_bytes(iov, count),
                            .local = first_address(iov, count),
                            .am_id = id,
                            .header_words = keep,
                            .header_bytes = static_cast<std::uint16_t>(header_length),
                            .header = words});
}

}  // namespace uctrace::uct
