#include "log-merger/exports/otf2_archive.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <system_error>

#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"

namespace uctrace::exports {
namespace {

// The errno of an OTF2 error.
int errno_of(OTF2_ErrorCode code) {
  switch (code) {
    case OTF2_ERROR_ENOSPC:
      return ENOSPC;
    case OTF2_ERROR_EDQUOT:
      return EDQUOT;
    case OTF2_ERROR_EFBIG:
      return EFBIG;
    case OTF2_ERROR_EIO:
      return EIO;
    case OTF2_ERROR_EMFILE:
      return EMFILE;
    case OTF2_ERROR_EACCES:
      return EACCES;
    default:
      return 0;
  }
}

// OTF2 prints failures; here they become exceptions. A call may finally return another error than
// the first one: the first is kept.
int first_errno = 0;
OTF2_ErrorCode keep_first(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                          const char*, va_list) {
  if (first_errno == 0) first_errno = errno_of(code);
  return code;
}

OTF2_FlushType always_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}
// Without a second callback OTF2 adds no records about flushes to the archive.
constexpr OTF2_FlushCallbacks kFlush = {always_flush, nullptr};

// Memory for each location of the process being written: there may be hundreds.
constexpr std::uint64_t kEventsAtOnce = OTF2_CHUNK_SIZE_MIN;

// Memory for each location, too, one after the other. OTF2 clears all of it, although a location
// has only one definition of a few bytes: with OTF2's default of 4 MiB, ten thousand locations take
// minutes.
std::uint64_t definitions_at_once(std::uint64_t longest_definition) {
  return std::clamp<std::uint64_t>(longest_definition, OTF2_CHUNK_SIZE_MIN, OTF2_CHUNK_SIZE_MAX);
}

template <typename Handle>
Handle* require(Handle* handle) {
  if (handle == nullptr) check(OTF2_ERROR_FILE_INTERACTION);
  return handle;
}

}  // namespace

void check(OTF2_ErrorCode code) {
  if (code == OTF2_SUCCESS) return;
  const int error = first_errno != 0 ? first_errno : errno_of(code);
  if (error != 0) throw std::system_error(error, std::generic_category(), "writing");
  throw Error({.what = "cannot write the archive",
               .why = OTF2_Error_GetDescription(code),
               .to_do = "look whether the OTF2 library is whole, or export to another format"});
}

OTF2_StringRef Otf2Strings::id_of(std::string_view text) {
  const auto [entry, is_new] =
      ids_.try_emplace(std::string(text), static_cast<OTF2_StringRef>(texts_.size()));
  if (is_new) texts_.emplace_back(text);
  return entry->second;
}

OTF2_RegionRef Otf2Regions::id_of(OTF2_StringRef name, Layer layer) {
  const auto [entry, is_new] =
      ids_.try_emplace({name, layer}, static_cast<OTF2_RegionRef>(regions_.size()));
  if (is_new) regions_.push_back(entry->first);
  return entry->second;
}

Otf2Archive::Otf2Archive(const std::filesystem::path& folder, std::uint64_t longest_definition) {
  first_errno = 0;
  OTF2_Error_RegisterCallback(keep_first, nullptr);
  archive_ = require(OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, kEventsAtOnce,
                                       definitions_at_once(longest_definition),
                                       OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE));
  check(OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr));
  check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
  check(OTF2_Archive_SetCreator(archive_, (std::string("uctrace ") + log::kToolVersion).c_str()));
  check(OTF2_Archive_OpenEvtFiles(archive_));
}

OTF2_LocationRef Otf2Archive::add_location(std::string name, OTF2_LocationType type,
                                           OTF2_LocationGroupRef process) {
  locations_.push_back({std::move(name), type, process, 0});
  return locations_.size() - 1;
}

OTF2_EvtWriter* Otf2Archive::writer_of(OTF2_LocationRef location) {
  return require(OTF2_Archive_GetEvtWriter(archive_, location));
}

void Otf2Archive::end_location(OTF2_LocationRef location) {
  OTF2_EvtWriter* const writer = writer_of(location);
  check(OTF2_EvtWriter_GetNumberOfEvents(writer, &locations_[location].events));
  check(OTF2_Archive_CloseEvtWriter(archive_, writer));
}

void Otf2Archive::write_local_definitions() {
  check(OTF2_Archive_CloseEvtFiles(archive_));
  check(OTF2_Archive_OpenDefFiles(archive_));
  for (OTF2_LocationRef location = 0; location < locations_.size(); ++location) {
    OTF2_DefWriter* const writer = require(OTF2_Archive_GetDefWriter(archive_, location));
    check(OTF2_DefWriter_WriteClockOffset(writer, 0, 0, 0));
    check(OTF2_Archive_CloseDefWriter(archive_, writer));
  }
  check(OTF2_Archive_CloseDefFiles(archive_));
}

OTF2_GlobalDefWriter* Otf2Archive::global_definitions() {
  return require(OTF2_Archive_GetGlobalDefWriter(archive_));
}

void Otf2Archive::close() {
  check(OTF2_Archive_CloseGlobalDefWriter(archive_, global_definitions()));
  check(OTF2_Archive_Close(archive_));
}

}  // namespace uctrace::exports
