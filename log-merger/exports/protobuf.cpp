#include "log-merger/exports/protobuf.hpp"

#include <bit>

namespace uctrace::exports {
namespace {

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2 };

constexpr std::uint64_t tag(std::uint32_t field, WireType type) {
  return std::uint64_t{field} << 3 | type;
}

}  // namespace

void ProtoMessage::raw_varint(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_ += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes_ += static_cast<char>(value);
}

void ProtoMessage::varint(std::uint32_t field, std::uint64_t value) {
  raw_varint(tag(field, kVarint));
  raw_varint(value);
}

void ProtoMessage::fixed64(std::uint32_t field, std::uint64_t value) {
  raw_varint(tag(field, kFixed64));
  for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(value >> (8 * byte));
}

void ProtoMessage::number(std::uint32_t field, double value) {
  fixed64(field, std::bit_cast<std::uint64_t>(value));
}

void ProtoMessage::bytes(std::uint32_t field, std::string_view value) {
  raw_varint(tag(field, kLengthDelimited));
  raw_varint(value.size());
  bytes_ += value;
}

}  // namespace uctrace::exports
