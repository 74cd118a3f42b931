// Messages of Protocol Buffers, as bytes: https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace uctrace::exports {

// A message being written, field by field.
class ProtoMessage {
 public:
  void varint(std::uint32_t field, std::uint64_t value);
  void fixed64(std::uint32_t field, std::uint64_t value);
  void number(std::uint32_t field, double value);
  void bytes(std::uint32_t field, std::string_view value);
  void message(std::uint32_t field, const ProtoMessage& value) { bytes(field, value.bytes_); }

  bool empty() const { return bytes_.empty(); }
  const std::string& text() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void raw_varint(std::uint64_t value);

  std::string bytes_;
};

}  // namespace uctrace::exports
