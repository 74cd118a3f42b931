#include "log-merger/store/chunk_reader.hpp"

#include <array>
#include <bit>
#include <optional>

#include "log-merger/store/store_chunks.hpp"
#include "log-merger/store/store_hdf5.hpp"

namespace uctrace::hdf5 {
namespace {

// Whether chunks are shuffled; nothing: they are not in pack_chunk()'s format.
std::optional<bool> is_shuffled(hid_t creation) {
  std::array<H5Z_filter_t, 3> filters{};
  const int count = H5Pget_nfilters(creation);
  if (count != 2 && count != 3) return std::nullopt;
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    filters[static_cast<std::size_t>(i)] = H5Pget_filter2(
        creation, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, nullptr);
  }
  constexpr std::array kPlain{H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32, 0};
  constexpr std::array kShuffled{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32};
  if (filters == kShuffled) return true;
  if (filters == kPlain) return false;
  return std::nullopt;
}

// HDF5 2 asks for the size of the buffer.
bool read_packed(hid_t dataset, hsize_t first, std::uint32_t& left_out,
                 std::vector<std::uint8_t>& packed) {
#if H5_VERSION_GE(2, 0, 0)
  std::size_t bytes = packed.size();
  return H5Dread_chunk2(dataset, H5P_DEFAULT, &first, &left_out, packed.data(), &bytes) >= 0 &&
         bytes <= packed.size();
#else
  return H5Dread_chunk(dataset, H5P_DEFAULT, &first, &left_out, packed.data()) >= 0;
#endif
}

}  // namespace

ChunkReader::ChunkReader(hid_t dataset, std::size_t count, std::size_t value_bytes)
    : dataset_(dataset), value_bytes_(value_bytes) {
  if (count == 0 || std::endian::native != std::endian::little) return;
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose, "reading a dataset");
  hsize_t values = 0;
  if (H5Pget_layout(creation) != H5D_CHUNKED || H5Pget_chunk(creation, 1, &values) != 1 ||
      values != chunk_values(count)) {
    return;
  }
  const std::optional<bool> shuffled = is_shuffled(creation);
  if (!shuffled) return;
  shuffled_ = *shuffled;
  chunk_bytes_ = values * value_bytes;
}

std::span<const std::uint8_t> ChunkReader::chunk(std::size_t number) {
  if (chunk_bytes_ == 0) return {};
  if (number != unpacked_) {
    unpacked_ = SIZE_MAX;
    if (!unpack(number)) {
      H5Eclear2(H5E_DEFAULT);
      return {};
    }
    unpacked_ = number;
  }
  return values_;
}

bool ChunkReader::unpack(std::size_t number) {
  const hsize_t first = number * store::kChunkValues;
  hsize_t bytes = 0;
  const std::size_t most = 2 * chunk_bytes_ + 1024;  // deflate adds less to incompressible data
  if (H5Dget_chunk_storage_size(dataset_, &first, &bytes) < 0 || bytes == 0 || bytes > most) {
    return false;
  }
  std::vector<std::uint8_t> packed(bytes);
  std::uint32_t left_out = 0;
  if (!read_packed(dataset_, first, left_out, packed) || left_out != 0) return false;
  values_.resize(chunk_bytes_);
  return store::unpack_chunk(packed, value_bytes_, shuffled_, values_);
}

}  // namespace uctrace::hdf5
