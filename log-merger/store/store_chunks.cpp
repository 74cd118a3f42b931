#include "log-merger/store/store_chunks.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <new>

namespace uctrace::store {
namespace {

// docs/performance.md compares other levels.
constexpr int kDeflateLevel = 4;
constexpr std::size_t kChecksumBytes = 4;

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const {
    libdeflate_free_compressor(compressor);
  }
};

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const {
    libdeflate_free_decompressor(decompressor);
  }
};

// Working memory for packing. Reused by a thread: fresh memory for each chunk has a noticeable
// cost.
class Packer {
 public:
  std::vector<std::uint8_t> pack(std::span<const std::uint8_t> values, std::size_t value_bytes,
                                 bool shuffled) {
    if (compressor_ == nullptr) compressor_.reset(libdeflate_alloc_compressor(kDeflateLevel));
    if (compressor_ == nullptr) throw std::bad_alloc();
    if (shuffled) {
      planes_.resize(values.size());
      shuffle(values, value_bytes, planes_.data());
      values = planes_;
    }
    room_.resize(
        std::max(room_.size(), libdeflate_zlib_compress_bound(compressor_.get(), values.size())));
    const std::size_t bytes = libdeflate_zlib_compress(compressor_.get(), values.data(),
                                                       values.size(), room_.data(), room_.size());
    const std::span deflated(room_.data(), bytes);
    std::vector<std::uint8_t> packed;
    packed.reserve(bytes + kChecksumBytes);
    packed.assign(deflated.begin(), deflated.end());
    const std::uint32_t checksum = fletcher32(deflated);
    for (std::size_t i = 0; i < kChecksumBytes; ++i) {
      packed.push_back(static_cast<std::uint8_t>(checksum >> 8 * i));
    }
    return packed;
  }

 private:
  std::unique_ptr<libdeflate_compressor, FreeCompressor> compressor_;
  std::vector<std::uint8_t> planes_, room_;
};

// Working memory for unpacking, also reused by a thread.
class Unpacker {
 public:
  bool unpack(std::span<const std::uint8_t> packed, std::size_t value_bytes, bool shuffled,
              std::span<std::uint8_t> values) {
    if (packed.size() < kChecksumBytes) return false;
    const auto deflated = packed.first(packed.size() - kChecksumBytes);
    if (fletcher32(deflated) != checksum_of(packed.last(kChecksumBytes))) return false;
    if (decompressor_ == nullptr) decompressor_.reset(libdeflate_alloc_decompressor());
    if (decompressor_ == nullptr) throw std::bad_alloc();
    planes_.resize(shuffled ? values.size() : 0);
    const std::span<std::uint8_t> inflated = shuffled ? std::span(planes_) : values;
    // Without an output for the size, the size must be exact.
    if (libdeflate_zlib_decompress(decompressor_.get(), deflated.data(), deflated.size(),
                                   inflated.data(), inflated.size(),
                                   nullptr) != LIBDEFLATE_SUCCESS) {
      return false;
    }
    if (shuffled) unshuffle(planes_, value_bytes, values.data());
    return true;
  }

 private:
  static std::uint32_t checksum_of(std::span<const std::uint8_t> bytes) {
    std::uint32_t checksum = 0;
    for (std::size_t i = 0; i < kChecksumBytes; ++i) {
      checksum |= static_cast<std::uint32_t>(bytes[i]) << 8 * i;
    }
    return checksum;
  }

  std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor_;
  std::vector<std::uint8_t> planes_;
};

template <std::size_t kBytes>
void unshuffle_of(const std::uint8_t* planes, std::size_t count, std::uint8_t* values) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      values[i * kBytes + byte] = planes[byte * count + i];
    }
  }
}

template <std::size_t kBytes>
void shuffle_of(const std::uint8_t* values, std::size_t count, std::uint8_t* planes) {
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    for (std::size_t i = 0; i < count; ++i) planes[byte * count + i] = values[i * kBytes + byte];
  }
}

}  // namespace

void shuffle(std::span<const std::uint8_t> values, std::size_t value_bytes, std::uint8_t* planes) {
  const std::size_t count = values.size() / value_bytes;
  switch (value_bytes) {
    case 2:
      return shuffle_of<2>(values.data(), count, planes);
    case 4:
      return shuffle_of<4>(values.data(), count, planes);
    case 8:
      return shuffle_of<8>(values.data(), count, planes);
    default:
      std::copy(values.begin(), values.end(), planes);
  }
}

void unshuffle(std::span<const std::uint8_t> planes, std::size_t value_bytes,
               std::uint8_t* values) {
  const std::size_t count = planes.size() / value_bytes;
  switch (value_bytes) {
    case 2:
      return unshuffle_of<2>(planes.data(), count, values);
    case 4:
      return unshuffle_of<4>(planes.data(), count, values);
    case 8:
      return unshuffle_of<8>(planes.data(), count, values);
    default:
      std::copy(planes.begin(), planes.end(), values);
  }
}

std::uint32_t fletcher32(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kWordsWithoutOverflow = 360;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  std::uint32_t sum = 0, sum_of_sums = 0;
  std::size_t at = 0;
  while (at + 1 < bytes.size()) {
    const std::size_t words = std::min(kWordsWithoutOverflow, (bytes.size() - at) / 2);
    for (const std::size_t end = at + 2 * words; at < end; at += 2) {
      sum += static_cast<std::uint32_t>(bytes[at] << 8 | bytes[at + 1]);
      sum_of_sums += sum;
    }
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  if (at < bytes.size()) {
    sum = fold(sum + static_cast<std::uint32_t>(bytes[at] << 8));
    sum_of_sums = fold(sum_of_sums + sum);
  }
  return fold(sum_of_sums) << 16 | fold(sum);
}

std::vector<std::uint8_t> pack_chunk(std::span<const std::uint8_t> values, std::size_t value_bytes,
                                     bool shuffled) {
  thread_local Packer packer;
  return packer.pack(values, value_bytes, shuffled);
}

bool unpack_chunk(std::span<const std::uint8_t> packed, std::size_t value_bytes, bool shuffled,
                  std::span<std::uint8_t> values) {
  thread_local Unpacker unpacker;
  return unpacker.unpack(packed, value_bytes, shuffled, values);
}

}  // namespace uctrace::store
