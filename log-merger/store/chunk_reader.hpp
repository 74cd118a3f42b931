// Reads raw chunks of a dataset and unpacks them here: libdeflate takes less than half the time of
// HDF5's own decompression. Private to the store.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uctrace::hdf5 {

// For one dataset, which must outlive it. Caches the last unpacked chunk.
class ChunkReader {
 public:
  // Whether the dataset is as store_write.cpp writes them: values of `value_bytes` that lie in the
  // file as in memory, in chunks of kChunkValues, packed by pack_chunk(). If not, chunk() returns
  // nothing.
  ChunkReader(hid_t dataset, std::size_t count, std::size_t value_bytes);

  // The values of a chunk, until the next call. Nothing: let HDF5 read it and report any problem.
  std::span<const std::uint8_t> chunk(std::size_t number);

 private:
  bool unpack(std::size_t number);

  hid_t dataset_;
  std::size_t value_bytes_;
  std::size_t chunk_bytes_ = 0;  // 0: it is not such a dataset
  bool shuffled_ = false;
  std::size_t unpacked_ = SIZE_MAX;  // number of the chunk in `values_`
  std::vector<std::uint8_t> values_;
};

}  // namespace uctrace::hdf5
