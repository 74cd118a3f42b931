// GPUs and network cards in the page's data: its sums, by memory and by card, are those of the
// rows.
#include "log-merger/page-data/page_devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "log-merger/page-data/cells_json.hpp"
#include "log-merger/page-data/page_data.hpp"
#include "log-merger/summaries/gpu_nic.hpp"
#include "log-merger/summaries/traffic_cells.hpp"
#include "tests/unit/page_tables.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

MemoryPlace random_place(const Run& run, Random& random) {
  const auto kind = static_cast<MemoryKind>(below(random, 4));
  if (kind == MemoryKind::unknown || kind == MemoryKind::host) return {kind, -1};
  return {kind, static_cast<std::int32_t>(below(random, run.gpus.size()))};
}

// random_run with GPUs on both hosts, data in all kinds of memory, and some hops over cards.
Run run_with_gpus(std::uint64_t seed) {
  Run run = random_run(seed);
  Random random(seed + 7);
  for (const char* host : {"even", "odd"}) {
    for (const char* bus : {"0000:10:00.0", "0000:20:00.0"}) {
      Gpu gpu;
      gpu.host = run.texts.intern(host);
      gpu.uuid = gpu.gpu_uuid = run.texts.intern(std::string("GPU-") + host + bus);
      gpu.bus = run.texts.intern(bus);
      run.gpus.push_back(gpu);
    }
    for (const char* device : {"mlx5_0:1", "mlx5_1:1"}) {
      Nic nic;
      nic.host = run.texts.intern(host);
      nic.device = run.texts.intern(device);
      run.nics.push_back(nic);
    }
  }
  for (Message& message : run.messages) {
    const MemoryPlace src = random_place(run, random), dst = random_place(run, random);
    message.src_memory = src.kind;
    message.src_gpu = src.gpu;
    message.dst_memory = dst.kind;
    message.dst_gpu = dst.gpu;
  }
  const auto card = [&] { return any_of(run, random, {"mlx5_0:1", "mlx5_1:1"}); };
  for (Hop& hop : run.hops) {
    const MemoryPlace from = random_place(run, random), to = random_place(run, random);
    hop.from_memory = from.kind;
    hop.from_gpu = from.gpu;
    hop.to_memory = to.kind;
    hop.to_gpu = to.gpu;
    hop.issued_by = below(random, 2) == 0 ? Side::src : Side::dst;
    hop.network = hop.role == Role::data && below(random, 2) == 0;
    if (!hop.network) continue;
    hop.device = card();
    hop.remote_device = card();
  }
  return run;
}

using Place = std::pair<std::string, std::int32_t>;  // kind and GPU

Place place_of(const ordered_json& json) {
  return {json["kind"].get<std::string>(), json["gpu"].get<std::int32_t>()};
}
Place place_of(MemoryPlace place) { return {name_of(place.kind), place.gpu}; }

template <typename Key>
using Sums = std::map<Key, std::uint64_t>;

template <typename Key>
void add(Sums<Key>& sums, const Key& key, std::uint64_t value) {
  if (value > 0) sums[key] += value;
}

// Host, memory, card and direction.
using CardKey = std::tuple<std::string, Place, std::string, std::string>;

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("messages of the page lie where their rows say") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Run run = run_with_gpus(seed);
      const ordered_json data = page_data(run);
      Sums<std::pair<Place, Place>> expected, found;
      for (const Message& message : run.messages) {
        add(expected, {place_of(message.src_place()), place_of(message.dst_place())},
            message.bytes);
      }
      for (const ordered_json& cell : cells_of(data)) {
        const ordered_json& kind = data["classes"][cell["class"].get<std::size_t>()];
        if (!kind["reason"].is_null()) {
          CHECK(kind["src_memory"].is_null());
          CHECK(kind["dst_memory"].is_null());
          continue;
        }
        add(found, {place_of(kind["src_memory"]), place_of(kind["dst_memory"])},
            cell["bytes"].get<std::uint64_t>());
      }
      CHECK(found == expected);
    }
  }

  TEST_CASE("between memory and cards the page has the sums of gpu_nic") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Run run = run_with_gpus(seed);
      merge::lay_out_gpu_nic(run);
      const ordered_json data = page_data(run);
      Sums<CardKey> expected, found;
      for (const GpuNic& row : run.gpu_nic) {
        const std::string card =
            row.nic < 0 ? "" : run.texts[run.nics[static_cast<std::size_t>(row.nic)].device];
        const auto expect = [&](const char* way, std::uint64_t bytes) {
          add(expected, {run.texts[row.host], place_of(row.place()), card, way}, bytes);
        };
        expect("out", row.out_bytes);
        expect("in", row.in_bytes);
        expect("staged out", row.out_staged_bytes);
        expect("staged in", row.in_staged_bytes);
      }
      const auto step_at = [&](const ordered_json& number) -> const ordered_json& {
        return data["steps"][number.get<std::size_t>()];
      };
      const auto host_of = [&](const ordered_json& process) {
        const auto index = process.get<std::int64_t>();
        if (index < 0) return std::string();
        return data["processes"][static_cast<std::size_t>(index)]["host"].get<std::string>();
      };
      for (const ordered_json& cell : cells_of(data)) {
        const ordered_json& kind = data["classes"][cell["class"].get<std::size_t>()];
        for (std::size_t i = 0; i < kind["path"].size(); ++i) {
          const ordered_json& step = step_at(kind["path"][i]);
          if (!step["network"].get<bool>()) continue;
          const auto bytes = cell["transfers"][i]["bytes"].get<std::uint64_t>();
          const bool by_source = step["issued_by"] == "src";
          const auto card = [&](bool own, const std::string& host) {
            // Of a process that is not known, no card of a host is known.
            return host.empty() ? "" : step[own ? "device" : "remote_device"].get<std::string>();
          };
          const std::string src = host_of(cell["src"]), dst = host_of(cell["dst"]);
          add(found, {src, place_of(step["from"]), card(by_source, src), "out"}, bytes);
          add(found, {dst, place_of(step["to"]), card(!by_source, dst), "in"}, bytes);
          const auto is_copied = [&](const char* side) {
            return std::any_of(kind["path"].begin(), kind["path"].end(), [&](const auto& number) {
              const ordered_json& other = step_at(number);
              return other["role"] == "staging" && other["issued_by"] == side;
            });
          };
          const auto is_staged = [](const ordered_json& end, const ordered_json& there) {
            return end["gpu"].get<int>() >= 0 && there["kind"] == "host";
          };
          if (is_staged(kind["src_memory"], step["from"]) && is_copied("src")) {
            add(found, {src, place_of(kind["src_memory"]), card(by_source, src), "staged out"},
                bytes);
          }
          if (is_staged(kind["dst_memory"], step["to"]) && is_copied("dst")) {
            add(found, {dst, place_of(kind["dst_memory"]), card(!by_source, dst), "staged in"},
                bytes);
          }
        }
      }
      CHECK(found == expected);
    }
  }

  TEST_CASE("each step is written once, and some class has it") {
    const Run run = run_with_gpus(4);
    const ordered_json data = page_data(run);
    std::set<std::string> texts;
    for (const ordered_json& step : data["steps"]) CHECK(texts.insert(step.dump()).second);
    std::set<std::size_t> used;
    std::size_t uses = 0;
    for (const ordered_json& kind : data["classes"]) {
      for (const ordered_json& number : kind["path"]) {
        REQUIRE(number.get<std::size_t>() < data["steps"].size());
        used.insert(number.get<std::size_t>());
        ++uses;
      }
    }
    CHECK(used.size() == data["steps"].size());
    CHECK(uses > 0);
  }

  TEST_CASE("a transfer is counted where its own memory is") {
    const Run run = run_with_gpus(5);
    TrafficCells cells({0, 1'000'000, false});
    for (const Message& message : run.messages) cells.add(message, path_of(run, message));
    for (const Transfer& transfer : run.transfers) cells.add(transfer);
    const ordered_json all_steps = steps_json(run, cells.tables());
    const ordered_json all_classes = classes_json(run, cells.tables());
    std::vector<const ordered_json*> steps;  // by transfer total
    for (const TrafficCell& cell : cells.tables().cells) {
      for (const ordered_json& step : all_classes[cell.traffic_class]["path"]) {
        steps.push_back(&all_steps[step.get<std::size_t>()]);
      }
    }
    for (const Message& message : run.messages) {
      if (message.src_process < 0 || message.src_process == message.dst_process) continue;
      for (const Hop& hop : path_of(run, message)) {
        if (hop.issued_by != Side::src) continue;
        Transfer transfer;
        transfer.process = static_cast<std::uint32_t>(message.src_process);
        transfer.message = &message - run.messages.data();
        transfer.transport = hop.transport;
        transfer.device = hop.device;
        transfer.op = hop.op;
        transfer.role = hop.role;
        transfer.from_memory = hop.from_memory;
        transfer.from_gpu = hop.from_gpu;
        transfer.to_memory = hop.to_memory;
        transfer.to_gpu = hop.to_gpu;
        const auto found =
            cells.find(transfer, cells.cell_of_message(static_cast<std::size_t>(transfer.message)));
        REQUIRE(found);
        const std::size_t total = *found;
        REQUIRE(total < steps.size());
        CHECK(place_of((*steps[total])["from"]) == place_of(hop.from()));
        CHECK(place_of((*steps[total])["to"]) == place_of(hop.to()));
        CHECK((*steps[total])["issued_by"] == "src");
      }
    }
  }

  TEST_CASE("the page names GPUs and cards, and how far they are from each other") {
    Run run = run_with_gpus(1);
    run.gpus[1].numa = 1;
    run.nics[0].bus = run.texts.intern("0000:11:00.0");
    run.gpu_nic = {{.host = run.gpus[1].host,
                    .memory = MemoryKind::gpu,
                    .gpu = 1,
                    .nic = 0,
                    .distance = Distance::sys,
                    .numa_distance = 21},
                   {.host = run.gpus[1].host, .memory = MemoryKind::host, .nic = 0}};
    const ordered_json devices = devices_json(run);
    CHECK(devices["gpus"].size() == 4);
    CHECK(devices["gpus"][1]["label"] == "even/GPU-even0000:20:00.0");
    CHECK(devices["gpus"][1]["bus"] == "0000:20:00.0");
    CHECK(devices["gpus"][1]["numa"] == 1);
    CHECK(devices["gpus"][0]["numa"].is_null());
    CHECK(devices["gpus"][0]["name"].is_null());
    CHECK(devices["nics"][0]["device"] == "mlx5_0:1");
    CHECK(devices["nics"][0]["bus"] == "0000:11:00.0");
    CHECK(devices["nics"][1]["bus"].is_null());
    const ordered_json pair = {{"gpu", 1}, {"nic", 0}, {"distance", "SYS"}, {"numa_distance", 21}};
    CHECK(devices["gpu_nic"] == ordered_json::array({pair}));
  }
}

}  // namespace uctrace
