// OTF2's writing interface with exceptions, and the numbered items of an archive. Only otf2*.cpp
// include this.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace uctrace::exports {

// Throws std::system_error for system errors, else Error with OTF2's own reason.
void check(OTF2_ErrorCode code);

// Texts of the archive, by their numbers.
class Otf2Strings {
 public:
  OTF2_StringRef id_of(std::string_view text);
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::unordered_map<std::string, OTF2_StringRef> ids_;
  std::vector<std::string> texts_;
};

// The layer of a function. A note is not a function: a pair of records without duration that tells
// something about the enclosing call.
enum class Layer : std::uint8_t { mpi, ucp, uct, program, note };

class Otf2Regions {
 public:
  OTF2_RegionRef id_of(OTF2_StringRef name, Layer layer);
  // In the order of their numbers.
  using Region = std::pair<OTF2_StringRef, Layer>;
  const std::vector<Region>& all() const { return regions_; }

 private:
  std::map<Region, OTF2_RegionRef> ids_;
  std::vector<Region> regions_;
};

struct Otf2Location {
  std::string name;
  OTF2_LocationType type;
  OTF2_LocationGroupRef process;
  std::uint64_t events = 0;
};

// An archive being written, by one process for all locations of the job.
class Otf2Archive {
 public:
  // `longest_definition`: the largest size of a definition, which OTF2 keeps in one piece.
  Otf2Archive(const std::filesystem::path& folder, std::uint64_t longest_definition);
  Otf2Archive(const Otf2Archive&) = delete;
  Otf2Archive& operator=(const Otf2Archive&) = delete;
  // An archive that was not closed is left as it is, because OTF2 would write on.
  ~Otf2Archive() = default;

  OTF2_Archive* get() const { return archive_; }

  // A location begins, and gets its events; then it ends.
  OTF2_LocationRef add_location(std::string name, OTF2_LocationType type,
                                OTF2_LocationGroupRef process);
  OTF2_EvtWriter* writer_of(OTF2_LocationRef location);
  void end_location(OTF2_LocationRef location);
  const std::vector<Otf2Location>& locations() const { return locations_; }

  // After the events: definitions of locations, which say that times need no correction.
  void write_local_definitions();
  OTF2_GlobalDefWriter* global_definitions();
  void close();

 private:
  OTF2_Archive* archive_;
  std::vector<Otf2Location> locations_;
};

}  // namespace uctrace::exports
