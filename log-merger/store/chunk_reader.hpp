// Reads chunks of a dataset as they lie in the file and unpacks them here: libdeflate takes less
// than half the time of what HDF5 unpacks with. Private to the store.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uctrace::hdf5 {

// Of one dataset, which outlives it. It keeps the chunk that it unpacked last.
class ChunkReader {
 public:
  // Whether the dataset is as store_write.cpp writes them: values of `value_bytes` that lie in the
  // file as in memory, in chunks of kChunkValues, packed by pack_chunk(). Else chunk() has nothing.
  ChunkReader(hid_t dataset, std::size_t count, std::size_t value_bytes);

  // The values of a chunk, until the next call. Nothing: HDF5 is to read it, and to say what is
  // wrong with it if something is.
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
