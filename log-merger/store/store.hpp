// The store: one HDF5 file that holds a merged run, described in docs/store-schema.md.
//
// Threads: HDF5 is entered by one thread at a time; callers see to it. They throw
// uctrace::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "event-log/reader/error.hpp"
#include "log-merger/model/model.hpp"
#include "log-merger/parallel/workers.hpp"
#include "log-merger/ranks/ranks.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

inline constexpr std::uint32_t kStoreSchema = 14;

// Writes `run` under another name and renames it into place, so that `path` is never half written,
// and removes what merges that were killed left of it.
// `before_publishing` is called once the file is whole under its other name; where it throws,
// nothing is kept. The bytes are the same whatever the number of threads. Of several ranks, all of
// which hold the run, the first calls this, and the others help_to_store().
void save_store(const Run& run, const std::filesystem::path& path,
                const std::function<void()>& before_publishing = {},
                const Workers& workers = Workers(), const Ranks& ranks = Ranks());

// Equal where runs are stored alike: of all that decides how many chunks there are, and of what
// does not grow with the events.
std::uint64_t digest_of(const Run& run);

// Packs this rank's part of the columns for the first one.
void help_to_store(const Run& run, const Workers& workers, const Ranks& ranks);

// There is no store, or none that can be read. Damage may turn out late: of the tables that grow
// only what somebody asks for is read, and checked.
class UnreadableStore : public Error {
 public:
  using Error::Error;
};

// A run whose rows are read where they are asked for, with references and enumerations checked as
// by load_store(). To be made a RowSource.
struct StoredRun {
  Run head;  // without the tables that grow
  RowSource::Readers readers;
};

// Which rows are read: all, or without the tables that grow with the events of the run, which are
// empty then (docs/store-schema.md).
enum class Rows : std::uint8_t { all, of_run };

// Reads a store. What it returns is consistent, however damaged the file was: every text id,
// process, message and range of hops lies within its table, and enumerations have known values.
Run load_store(const std::filesystem::path& path, Rows rows = Rows::all);

// The same if it is the one that is wanted, by the version of uctrace that made it and what stands
// in Run without its tables but `sources`.
using StoreWanted = std::function<bool(const Run& head, const std::string& tool_version)>;
std::optional<StoredRun> open_store(const std::filesystem::path& path,
                                    const StoreWanted& is_wanted = {});
std::optional<Run> load_store(const std::filesystem::path& path, Rows rows,
                              const StoreWanted& is_wanted);

// Whether a store of uctrace lies there, of whichever schema.
bool is_store(const std::filesystem::path& path);

}  // namespace uctrace
