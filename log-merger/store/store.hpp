// The store: one HDF5 file that holds a merged run, described in docs/store-schema.md.
//
// Threads: only one thread at a time may enter HDF5; callers ensure that. They throw
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

inline constexpr std::uint32_t kStoreSchema = 15;

// Writes `run` under another name and renames it into place, so `path` is never half written, and
// removes leftovers of killed merges. `before_publishing` is called once the file is complete under
// its other name; if it throws, nothing is kept. The bytes do not depend on the number of threads.
// With several ranks, all of which hold the run, the first one calls this, and the others
// help_to_store().
void save_store(const Run& run, const std::filesystem::path& path,
                const std::function<void()>& before_publishing = {},
                const Workers& workers = Workers(), const Ranks& ranks = Ranks());

// Equal for runs that are stored alike: covers everything that determines the number of chunks, and
// all tables that do not grow with the events.
std::uint64_t digest_of(const Run& run);

// Packs this rank's part of the columns for the first one.
void help_to_store(const Run& run, const Workers& workers, const Ranks& ranks);

// There is no readable store. Damage may be detected late: growing tables are read, and checked,
// only on request.
class UnreadableStore : public Error {
 public:
  using Error::Error;
};

// A run whose rows are read on request, with references and enumerations checked as by
// load_store(). For making a RowSource.
struct StoredRun {
  Run head;  // without the tables that grow
  RowSource::Readers readers;
};

// Which rows to read: all, or without the tables that grow with the events of the run, which are
// then empty (docs/store-schema.md).
enum class Rows : std::uint8_t { all, of_run };

// Reads a store. The result is consistent, however damaged the file was: every text id, process,
// message and range of hops is valid, and enumerations have known values.
Run load_store(const std::filesystem::path& path, Rows rows = Rows::all);

// The same if it is the wanted one, judged by the version of uctrace that made it, and by the Run
// without its tables except `sources`.
using StoreWanted = std::function<bool(const Run& head, const std::string& tool_version)>;
std::optional<StoredRun> open_store(const std::filesystem::path& path,
                                    const StoreWanted& is_wanted = {});
std::optional<Run> load_store(const std::filesystem::path& path, Rows rows,
                              const StoreWanted& is_wanted);

// Whether there is a store of uctrace, of any schema.
bool is_store(const std::filesystem::path& path);

}  // namespace uctrace
