// libFuzzer entry over all output about a run read from a store: any values that the reader of
// stores accepts (log-merger/store/stored_table.hpp).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "event-log/reader/error.hpp"
#include "log-merger/reports/comms.hpp"
#include "log-merger/reports/waits.hpp"
#include "log-merger/simulate/simulate_output.hpp"
#include "log-merger/store/store_ranges.hpp"
#include "log-merger/store/store_tables.hpp"
#include "log-merger/summaries/time_slabs.hpp"
#include "tests/fuzz/show_run.hpp"
#include "tests/unit/stored_ranges.hpp"

namespace uctrace::fuzz {
namespace {

// Numbers from the input, then numbers derived from it.
class Numbers {
 public:
  explicit Numbers(std::span<const std::uint8_t> data) : data_(data), random_(data.size()) {
    for (const std::uint8_t byte : data) random_.seed(random_() ^ byte);
  }

  std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : random_() % end; }
  bool rarely() { return next_byte() % 16 == 0; }

  // The limits of a type, and values near 0, are more frequent.
  template <typename Value>
  Value any() {
    using Limits = std::numeric_limits<Value>;
    switch (next_byte() % 8) {
      case 0:
        return Limits::max();
      case 1:
        return Limits::min();
      case 2:
        return static_cast<Value>(-1);
      case 3:
        return static_cast<Value>(random_());
      default:
        return static_cast<Value>(next_byte() % 64);
    }
  }

 private:
  std::uint8_t next_byte() {
    if (at_ < data_.size()) return data_[at_++];
    return static_cast<std::uint8_t>(random_());
  }

  const std::span<const std::uint8_t> data_;
  std::size_t at_ = 0;
  std::mt19937_64 random_;
};

class AnyRun {
 public:
  explicit AnyRun(std::span<const std::uint8_t> data) : numbers_(data) {}

  Run make() {
    for (std::size_t i = 0; i < kTexts; ++i) run_.texts.intern("text " + std::to_string(i));
    for (const char* known :
         {"MPI_COMM_WORLD", "MPI_Wait", "cpu_copy", "rndv_get_zcopy", "UCS_OK"}) {
      run_.texts.intern(known);
    }
    run_.info_json = info_json();
    run_.epoch_realtime_ns = numbers_.any<std::uint64_t>();
    run_.last_ns = time();
    run_.calls_are_summed = numbers_.below(2) != 0;
    run_.messages_are_summed = numbers_.below(2) != 0;
    set_slabs();
    store::for_each_of(store::kTables, [&](auto rows) { (run_.*rows).resize(kRows); });
    store::for_each_of(store::kTables, [&](auto rows) { fill(run_.*rows); });
    lay_out_ranges(run_, kRows, kRows, [&](std::size_t end) { return numbers_.below(end); });
    for (Communicator& comm : run_.communicators) place(comm.first_member, comm.members);
    for (CallStack& stack : run_.stacks) place(stack.first_frame, stack.frames);
    for (Setting& setting : run_.settings) place(setting.first_process, setting.processes);
    return std::move(run_);
  }

 private:
  static constexpr std::size_t kTexts = 5, kRows = 7;

  std::string info_json() {
    constexpr const char* kTexts[] = {
        "",
        "{",
        "{}",
        "[]",
        R"({"clock": 5, "folder": [], "recording": {"sentence": 7}})",
        R"({"folder": {"damaged": {"log": 1}, "impossible": [5, {"log": null}]}, "layers": []})",
        R"({"clock": {"max_error_ns": "x"}, "complete": 3, "mpi": {"library": {}}, "faults": 1})"};
    return kTexts[numbers_.below(std::size(kTexts))];
  }

  std::int64_t time() {
    return std::clamp(numbers_.any<std::int64_t>(), -store::kFarthestNs, store::kFarthestNs);
  }

  void set_slabs() {
    if (numbers_.below(2) == 0) return;
    const auto longest = static_cast<std::uint64_t>(store::kFarthestNs / kMostSlabs);
    run_.slabs = static_cast<std::uint32_t>(1 + numbers_.below(kMostSlabs));
    run_.slab_ns = static_cast<std::int64_t>(1 + numbers_.below(longest));
  }

  void place(std::uint32_t& first, std::uint32_t& count) {
    first = static_cast<std::uint32_t>(numbers_.below(kRows + 1));
    count = static_cast<std::uint32_t>(numbers_.below(kRows - first + 1));
  }

  template <typename Row>
  void fill(std::vector<Row>& rows) {
    for (Row& row : rows) {
      store::for_each_of(store::Table<Row>::columns,
                         [&](const auto& column) { set(row.*column.member, column.unit); });
    }
  }

  template <typename Value>
  void set(Value& value, store::Unit unit) {
    if constexpr (std::is_same_v<Value, std::string>) {
      value = run_.texts[static_cast<TextId>(numbers_.below(kTexts))];
    } else if constexpr (std::is_same_v<Value, bool>) {
      value = numbers_.below(2) != 0;
    } else if constexpr (std::is_enum_v<Value>) {
      value = static_cast<Value>(numbers_.below(store::enumerators<Value>()));
    } else if (unit == store::Unit::text) {
      value = static_cast<Value>(numbers_.below(run_.texts.all().size()));
    } else if (store::is_reference(unit)) {
      const bool is_none = std::is_signed_v<Value> && numbers_.rarely();
      value = is_none ? static_cast<Value>(-1) : static_cast<Value>(numbers_.below(kRows));
    } else if (std::is_same_v<Value, std::int64_t> && unit == store::Unit::ns) {
      value = static_cast<Value>(time());
    } else {
      value = numbers_.any<Value>();
    }
  }

  Numbers numbers_;
  Run run_;
};

void show_comms(const Run& run) {
  for (const auto& by : {std::vector{CommsBy::comm, CommsBy::op, CommsBy::call_site},
                         std::vector{CommsBy::rank, CommsBy::kind, CommsBy::time},
                         std::vector{CommsBy::bucket, CommsBy::transport}}) {
    CommsOptions options;
    options.by = by;
    std::ostringstream out;
    write_comms(out, run, {}, options);
    require_plain(out.str(), "comms");
  }
}

void show_waits(const Run& run) {
  for (const WaitsBy by : {WaitsBy::all, WaitsBy::pair, WaitsBy::rank, WaitsBy::call_site,
                           WaitsBy::call_path, WaitsBy::comm, WaitsBy::time, WaitsBy::kind}) {
    WaitsOptions options;
    options.by = by;
    for (const Format format : {Format::table, Format::json}) {
      options.format = format;
      std::ostringstream out;
      write_waits(out, run, {}, options);
      require_plain(out.str(), "waits");
    }
  }
}

void show_simulation(const Run& run) {
  const Faster computing = {
      .what = "compute", .ranks = {}, .factor = 0.001, .asked = "compute=0.001"};
  const NetworkChange network = {
      .transport = "all", .latency_ns = kGreatestLatencyNs, .bytes_per_s = 1};
  for (const Format format : {Format::table, Format::json}) {
    std::ostringstream out;
    write_simulation(out, run,
                     {.faster = {computing},
                      .balance = Balance::phases,
                      .balanced_ranks = {},
                      .network = {network},
                      .even_partitions = EvenPartitions::threads},
                     {.format = format});
    require_plain(out.str(), "simulate");
  }
}

void show_part(const Run& run) {
  FilterSpec spec;
  spec.from_ns = 5;
  spec.min_bytes = 3;
  std::ostringstream out;
  const Filter some(run, spec);
  write_report(out, run, some, {});
  write_messages(out, run, some, {});
  require_plain(out.str(), "report of a part");
}

}  // namespace
}  // namespace uctrace::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace uctrace;
  Run run = fuzz::AnyRun({data, size}).make();
  try {
    fuzz::show(run);
    fuzz::show_comms(run);
    fuzz::show_part(run);
    fuzz::show_waits(run);
    fuzz::show_simulation(run);
  } catch (const Error&) {
  }
  return 0;
}
