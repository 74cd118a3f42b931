// HDF5's C API with owned ids, and its errors as exceptions. Only the store includes this.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "log-merger/store/chunk_reader.hpp"

namespace uctrace::hdf5 {

// A call of HDF5 failed; what() is the library's own reason.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The innermost reason on HDF5's error stack, after `doing`.
[[noreturn]] void fail(const std::string& doing);

inline void check(herr_t result, const std::string& doing) {
  if (result < 0) fail(doing);
}

// Owns one HDF5 id of any kind.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close, const std::string& doing) : id_(id), close_(close) {
    if (id < 0) fail(doing);
  }
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  // Closes now, and throws if that fails: a file writes its last bytes here.
  void close(const std::string& doing) {
    check(close_(std::exchange(id_, H5I_INVALID_HID)), doing);
  }

 private:
  hid_t id_;
  Close close_;
};

// Stops HDF5 from printing errors while it lives.
class Quiet {
 public:
  Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet();

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

Handle create_file(const std::string& path);
// Invisible to others, and gone when closed.
Handle create_file_in_memory();
Handle open_file(const std::string& path);
Handle create_group(hid_t parent, const std::string& name);
Handle open_group(hid_t parent, const std::string& name);

void write_attribute(hid_t object, const char* name, const std::string& value);
void write_attribute(hid_t object, const char* name, std::uint32_t value);
// Fails if the object has no such attribute.
std::uint32_t read_number_attribute(hid_t object, const char* name);
std::string read_text_attribute(hid_t object, const char* name);

// HDF5 types of a column's values, in memory and in the file.
struct ValueType {
  hid_t memory;
  hid_t file;
};
template <typename T>
ValueType value_type() {
  static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
  constexpr bool kSigned = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1)
    return {kSigned ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8, kSigned ? H5T_STD_I8LE : H5T_STD_U8LE};
  if constexpr (sizeof(T) == 2)
    return {kSigned ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16,
            kSigned ? H5T_STD_I16LE : H5T_STD_U16LE};
  if constexpr (sizeof(T) == 4)
    return {kSigned ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32,
            kSigned ? H5T_STD_I32LE : H5T_STD_U32LE};
  if constexpr (sizeof(T) == 8)
    return {kSigned ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64,
            kSigned ? H5T_STD_I64LE : H5T_STD_U64LE};
}

// A one-dimensional dataset in chunks of kChunkValues; chunks that are not written contain `fill`.
// The returned handle takes chunks and attributes.
Handle create_values(hid_t group, const std::string& name, ValueType type, std::size_t count,
                     const void* fill, bool shuffled = true);
// `packed` as store::pack_chunk() makes it. All chunks have the same length, including the last
// one.
void write_chunk(const Handle& dataset, const std::string& name, std::size_t chunk,
                 std::span<const std::uint8_t> packed);
// Values in a chunk of a dataset of so many.
std::size_t chunk_values(std::size_t count);

// The attribute of a group that names its completely stored dataset. The others may lack chunks,
// and their claimed size is accepted if it is the same.
inline constexpr const char* kCountedBy = "counted_by";

// A dataset opened for reading. `count` is verified: so many values are really stored, there or in
// the dataset that kCountedBy names.
struct Source {
  Handle dataset;
  std::size_t count;
  std::size_t value_bytes;
  ChunkReader chunks;
};
Source open_values(hid_t group, const std::string& name, ValueType type);
void read_values(Source& source, const std::string& name, ValueType type, void* values);
// `count` of its values, from `first` on.
void read_part(Source& source, const std::string& name, ValueType type, std::size_t first,
               std::size_t count, void* values);

template <typename T>
std::vector<T> read_column(hid_t group, const std::string& name) {
  Source source = open_values(group, name, value_type<T>());
  std::vector<T> values(source.count);
  read_values(source, name, value_type<T>(), values.data());
  return values;
}

}  // namespace uctrace::hdf5
