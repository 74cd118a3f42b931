#include "log-merger/mpi/tag_layout.hpp"

namespace uctrace::merge {

namespace {

DecodedTag decode_open_mpi(std::uint64_t ucp_tag) {
  const auto tag = static_cast<std::int32_t>(static_cast<std::int64_t>(ucp_tag) >> 40);
  return {ucp_tag & 0xfffff, static_cast<std::int32_t>(ucp_tag >> 20 & 0xfffff), tag, tag < 0};
}

std::optional<DecodedTag> decode_mpich(std::uint64_t ucp_tag) {
  constexpr std::uint64_t kActiveMessage = 0x80000000u;  // ch4's own messages, not of a call
  if ((ucp_tag & kActiveMessage) != 0) {
    return std::nullopt;
  }
  constexpr std::uint64_t kErrorBits = 0x60000000u;  // set in collectives after a failure
  const std::uint64_t context = ucp_tag >> 48;
  return DecodedTag{context, static_cast<std::int32_t>(ucp_tag >> 32 & 0xffff),
                    static_cast<std::int32_t>(ucp_tag & 0xffffffffu & ~kErrorBits),
                    (context & 1) != 0};
}

}  // namespace

std::optional<DecodedTag> decode_tag(MpiFlavour flavour, std::uint64_t ucp_tag) {
  switch (flavour) {
    case MpiFlavour::open_mpi:
      return decode_open_mpi(ucp_tag);
    case MpiFlavour::mpich:
      return decode_mpich(ucp_tag);
    case MpiFlavour::none:
      break;
  }
  return std::nullopt;
}

}  // namespace uctrace::merge
