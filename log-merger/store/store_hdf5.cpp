#include "log-merger/store/store_hdf5.hpp"

#include <algorithm>
#include <cstring>

#include "log-merger/store/store_chunks.hpp"

namespace uctrace::hdf5 {
namespace {

// Deflate's largest compression ratio; a dataset that claims more is damaged.
constexpr hsize_t kMostExpansion = 1040;

herr_t note_innermost(unsigned, const H5E_error2_t* entry, void* reason) {
  if (entry->desc != nullptr && *entry->desc != '\0') {
    *static_cast<std::string*>(reason) = entry->desc;
  }
  return 0;
}

// File access without locks, which network file systems refuse.
Handle file_access() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "preparing file access");
  check(H5Pset_file_locking(access, false, true), "switching file locks off");
  // Since format 1.10 all of HDF5's own structures have checksums, so damage is detected.
  check(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110), "choosing the file format");
  return access;
}

}  // namespace

void fail(const std::string& doing) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, note_innermost, &reason);
  H5Eclear2(H5E_DEFAULT);
  throw Failure(doing + " failed" + (reason.empty() ? "" : " (" + reason + ")"));
}

Quiet::Quiet() {
  // Every object is closed by its owner here. Objects that a damaged file leaves open inside HDF5
  // must not make its exit handler print messages.
  H5dont_atexit();
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Quiet::~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

Handle create_file(const std::string& path) {
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "preparing a file");
  check(H5Pset_obj_track_times(creation, false), "switching times off");  // of the root group
  return Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, file_access()), H5Fclose,
                "creating the file");
}

Handle create_file_in_memory() {
  constexpr std::size_t kStep = 64 * 1024;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "preparing a file");
  check(H5Pset_fapl_core(access, kStep, false), "choosing memory for a file");
  return Handle(H5Fcreate("uctrace", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose,
                "creating a file in memory");
}

Handle open_file(const std::string& path) {
  return Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, file_access()), H5Fclose, "opening the file");
}

Handle create_group(hid_t parent, const std::string& name) {
  Handle plist(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, "preparing a group");
  check(H5Pset_obj_track_times(plist, false), "switching times off");
  return Handle(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, plist, H5P_DEFAULT), H5Gclose,
                "creating the group " + name);
}

Handle open_group(hid_t parent, const std::string& name) {
  return Handle(H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose, "opening the group " + name);
}

namespace {

void write_scalar_attribute(hid_t object, const char* name, hid_t type, const void* value) {
  const std::string doing = std::string("writing the attribute ") + name;
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, doing);
  const Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         doing);
  check(H5Awrite(attribute, type, value), doing);
}

}  // namespace

void write_attribute(hid_t object, const char* name, const std::string& value) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "copying a type");
  check(H5Tset_size(type, std::max<std::size_t>(value.size(), 1)), "setting a text's size");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "setting a text's encoding");
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), "setting a text's padding");
  write_scalar_attribute(object, name, type, value.c_str());
}

void write_attribute(hid_t object, const char* name, std::uint32_t value) {
  write_scalar_attribute(object, name, H5T_NATIVE_UINT32, &value);
}

std::uint32_t read_number_attribute(hid_t object, const char* name) {
  const std::string doing = std::string("reading the attribute ") + name;
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, doing);
  const Handle space(H5Aget_space(attribute), H5Sclose, doing);
  const Handle type(H5Aget_type(attribute), H5Tclose, doing);
  if (H5Sget_simple_extent_npoints(space) != 1 || H5Tget_class(type) != H5T_INTEGER) {
    throw Failure(doing + " failed (it is not a number)");
  }
  std::uint32_t value = 0;
  check(H5Aread(attribute, H5T_NATIVE_UINT32, &value), doing);
  return value;
}

std::string read_text_attribute(hid_t object, const char* name) {
  const std::string doing = std::string("reading the attribute ") + name;
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, doing);
  const Handle space(H5Aget_space(attribute), H5Sclose, doing);
  const Handle type(H5Aget_type(attribute), H5Tclose, doing);
  constexpr std::size_t kMost = 4096;
  const std::size_t size = H5Tget_size(type);
  if (H5Sget_simple_extent_npoints(space) != 1 || H5Tget_class(type) != H5T_STRING ||
      H5Tis_variable_str(type) != 0 || size > kMost) {
    throw Failure(doing + " failed (it is not a text)");
  }
  std::string value(size, '\0');
  check(H5Aread(attribute, type, value.data()), doing);
  value.resize(std::min(value.find('\0'), size));
  return value;
}

std::size_t chunk_values(std::size_t count) { return std::min(count, store::kChunkValues); }

Handle create_values(hid_t group, const std::string& name, ValueType type, std::size_t count,
                     const void* fill, bool shuffled) {
  const std::string doing = "writing " + name;
  const hsize_t size = count;
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, doing);
  const Handle plist(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, doing);
  check(H5Pset_obj_track_times(plist, false), doing);
  if (count != 0) {
    constexpr unsigned kAnyLevel = 6;  // if HDF5 itself deflated
    const hsize_t chunk = chunk_values(count);
    check(H5Pset_chunk(plist, 1, &chunk), doing);
    check(H5Pset_fill_value(plist, type.memory, fill), doing);
    if (shuffled) check(H5Pset_shuffle(plist), doing);
    check(H5Pset_deflate(plist, kAnyLevel), doing);
    check(H5Pset_fletcher32(plist), doing);
  }
  return Handle(H5Dcreate2(group, name.c_str(), type.file, space, H5P_DEFAULT, plist, H5P_DEFAULT),
                H5Dclose, doing);
}

void write_chunk(const Handle& dataset, const std::string& name, std::size_t chunk,
                 std::span<const std::uint8_t> packed) {
  constexpr std::uint32_t kNoFilterLeftOut = 0;
  const hsize_t first = chunk * store::kChunkValues;
  check(
      H5Dwrite_chunk(dataset, H5P_DEFAULT, kNoFilterLeftOut, &first, packed.size(), packed.data()),
      "writing " + name);
}

namespace {

Handle open_dataset(hid_t group, const std::string& name) {
  return Handle(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose, "reading " + name);
}

// The claimed size of a one-dimensional dataset of this type, or of any.
hsize_t count_of(const Handle& dataset, const std::string& name, hid_t type = H5I_INVALID_HID) {
  const std::string doing = "reading " + name;
  const Handle space(H5Dget_space(dataset), H5Sclose, doing);
  const Handle stored(H5Dget_type(dataset), H5Tclose, doing);
  hsize_t count = 0;
  if (H5Sget_simple_extent_ndims(space) != 1 ||
      H5Sget_simple_extent_dims(space, &count, nullptr) != 1 ||
      (type != H5I_INVALID_HID && H5Tequal(stored, type) <= 0)) {
    throw Failure(doing + " failed (it has another type or shape)");
  }
  return count;
}

// Whether the file can contain so many values of it.
bool holds(const Handle& dataset, const std::string& name, hsize_t count) {
  const Handle stored(H5Dget_type(dataset), H5Tclose, "reading " + name);
  return count / kMostExpansion <= H5Dget_storage_size(dataset) / H5Tget_size(stored);
}

bool is_counted_elsewhere(hid_t group, hsize_t count) {
  if (H5Aexists(group, kCountedBy) <= 0) return false;
  const std::string name = read_text_attribute(group, kCountedBy);
  const Handle dataset = open_dataset(group, name);
  return count_of(dataset, name) == count && holds(dataset, name, count);
}

}  // namespace

Source open_values(hid_t group, const std::string& name, ValueType type) {
  Handle dataset = open_dataset(group, name);
  const hsize_t count = count_of(dataset, name, type.file);
  if (count != 0 && !holds(dataset, name, count) && !is_counted_elsewhere(group, count)) {
    throw Failure("reading " + name + " failed (it claims more values than the file holds)");
  }
  const std::size_t value_bytes = H5Tget_size(type.memory);
  ChunkReader chunks(dataset, static_cast<std::size_t>(count), value_bytes);
  return {std::move(dataset), static_cast<std::size_t>(count), value_bytes, std::move(chunks)};
}

namespace {

void read_by_library(const Source& source, const std::string& name, ValueType type,
                     std::size_t first, std::size_t count, void* values) {
  const std::string doing = "reading " + name;
  const hsize_t start = first, size = count;
  const Handle file_space(H5Dget_space(source.dataset), H5Sclose, doing);
  check(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, nullptr, &size, nullptr), doing);
  const Handle memory_space(H5Screate_simple(1, &size, nullptr), H5Sclose, doing);
  check(H5Dread(source.dataset, type.memory, memory_space, file_space, H5P_DEFAULT, values), doing);
}

}  // namespace

void read_values(Source& source, const std::string& name, ValueType type, void* values) {
  read_part(source, name, type, 0, source.count, values);
}

void read_part(Source& source, const std::string& name, ValueType type, std::size_t first,
               std::size_t count, void* values) {
  auto* to = static_cast<std::uint8_t*>(values);
  const std::size_t size = source.value_bytes, end = first + count;
  while (first < end) {
    const std::size_t chunk = first / store::kChunkValues;
    const std::size_t part = std::min(end, (chunk + 1) * store::kChunkValues) - first;
    const std::span<const std::uint8_t> unpacked = source.chunks.chunk(chunk);
    if (unpacked.empty()) {
      read_by_library(source, name, type, first, part, to);
    } else {
      std::memcpy(to, &unpacked[(first - chunk * store::kChunkValues) * size], part * size);
    }
    first += part;
    to += part * size;
  }
}

}  // namespace uctrace::hdf5
