// Damages real logs in hundreds of ways and merges each damaged job, in one process:
//   merge_mutants SEED COUNT LOG...          merges and shows COUNT mutants of the job
//   merge_mutants SEED NUMBER LOG... -o DIR  writes the logs of mutant NUMBER to DIR
// A mutant depends only on SEED and its number. The caller limits memory and time.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "log-merger/merge.hpp"
#include "tests/fuzz/show_run.hpp"

namespace {

using namespace uctrace;
using Random = std::mt19937_64;
using Log = std::vector<char>;
using Logs = std::vector<Log>;

constexpr std::size_t kPage = log::kProcessPageBytes, kChunk = log::kMinChunkBytes;

// Where damage matters: page, lane counters, chunk headers, and the records after them.
std::size_t some_place(const Log& log, Random& random) {
  const std::size_t chunks = log.size() > kPage ? (log.size() - kPage) / kChunk : 0;
  const std::size_t chunk = kPage + (chunks > 0 ? random() % chunks : 0) * kChunk;
  switch (random() % 6) {
    case 0:
      return random() % 1024;
    case 1:
      return log::kLanesOffset + random() % (2 * sizeof(log::LaneInfo));
    case 2:
      return chunk + random() % sizeof(log::ChunkHeader);
    case 3:
      return random() % std::max<std::size_t>(log.size(), 1);
    default:
      return chunk + sizeof(log::ChunkHeader) + random() % 4096 / 8 * 8;
  }
}

void put(Log& log, std::size_t at, std::uint64_t value, std::size_t bytes) {
  if (at + bytes <= log.size()) std::memcpy(&log[at], &value, bytes);
}

void flip_bits(Logs&, Log& log, Random& random) {
  for (auto n = 1 + random() % 16; n > 0; --n) {
    const std::size_t at = some_place(log, random);
    if (at < log.size()) log[at] = static_cast<char>(log[at] ^ 1 << random() % 8);
  }
}

void cut(Logs&, Log& log, Random& random) {
  static constexpr std::size_t kUnits[] = {1, 8, 64, 4096, kChunk};
  const std::size_t unit = kUnits[random() % std::size(kUnits)];
  log.resize(random() % (log.size() + 1) / unit * unit);
}

void zero_pages(Logs&, Log& log, Random& random) {
  const std::size_t at = random() % std::max<std::size_t>(log.size(), 1) / 4096 * 4096;
  const std::size_t end = std::min(log.size(), at + 4096 * (1 + random() % 8));
  std::fill(log.begin() + static_cast<std::ptrdiff_t>(at),
            log.begin() + static_cast<std::ptrdiff_t>(end), 0);
}

// Copies or swaps whole chunks, within a log or from another one's.
void move_chunks(Logs& logs, Log& log, Random& random) {
  Log& other = logs[random() % logs.size()];
  if (log.size() < kPage + kChunk || other.size() < kPage + kChunk) return;
  const auto chunk_of = [&](Log& of) {
    return of.begin() +
           static_cast<std::ptrdiff_t>(kPage + random() % ((of.size() - kPage) / kChunk) * kChunk);
  };
  const auto from = chunk_of(other), to = chunk_of(log);
  if (from == to) return;
  if (random() % 2 == 0) {
    std::copy_n(from, kChunk, to);
  } else {
    std::swap_ranges(from, from + kChunk, to);
  }
}

// Sizes, counts, ticks, handles: any words of a record or header.
void set_extremes(Logs&, Log& log, Random& random) {
  static constexpr std::uint64_t kExtremes[] = {
      0, 1, 0xff, INT32_MAX, UINT32_MAX, INT64_MAX, std::uint64_t{1} << 63, UINT64_MAX};
  for (auto n = 1 + random() % 8; n > 0; --n) {
    const std::size_t bytes = std::size_t{1} << random() % 4;
    put(log, some_place(log, random) / bytes * bytes, kExtremes[random() % std::size(kExtremes)],
        bytes);
  }
}

void set_times(Logs&, Log& log, Random& random) {
  const std::size_t anchors = offsetof(log::ProcessPage, anchors);
  for (auto n = 1 + random() % 6; n > 0; --n) {
    const std::uint64_t time = random() >> random() % 64;
    put(log, anchors + random() % (log::kAnchors * 3) * 8, time, 8);
  }
}

// Bytes of one log in another, at the same place or elsewhere.
void splice(Logs& logs, Log& log, Random& random) {
  const Log& other = logs[random() % logs.size()];
  const std::size_t from = some_place(other, random);
  const std::size_t to = random() % 2 == 0 ? from : some_place(log, random);
  if (from >= other.size() || to >= log.size()) return;
  const std::size_t size = std::min({1 + random() % 8192, other.size() - from, log.size() - to});
  std::memmove(&log[to], &other[from], size);
}

void set_version(Logs&, Log& log, Random& random) { put(log, 8, random() % 4, 4); }

void copy_log(Logs& logs, Log& log, Random&) {
  if (logs.size() < 12) logs.push_back(Log(log));
}

Logs mutant(Logs logs, std::uint64_t seed, std::uint64_t number) {
  using Damage = void (*)(Logs&, Log&, Random&);
  static constexpr Damage kDamages[] = {
      flip_bits,   cut,      zero_pages, move_chunks, set_extremes, set_times,   splice,
      set_version, copy_log, flip_bits,  splice,      set_times,    set_extremes};
  std::seed_seq mixed{seed, number};
  Random random(mixed);
  logs.reserve(16);  // copy_log adds while a log is referenced
  kDamages[number % std::size(kDamages)](logs, logs[random() % logs.size()], random);
  for (auto n = random() % 3; n > 0; --n) {
    kDamages[random() % std::size(kDamages)](logs, logs[random() % logs.size()], random);
  }
  return logs;
}

bool merge_and_show(const Logs& logs) {
  LogSet set;
  set.folder = "mutant";
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const std::string name = "log" + std::to_string(i);
    set.add(name,
            [&] { return log::LogFile::from_bytes(std::as_bytes(std::span(logs[i])), name); });
  }
  try {
    fuzz::show(merge_logs(std::move(set), {}));
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  std::string folder;
  if (words.size() >= 2 && words[words.size() - 2] == "-o") {
    folder = words.back();
    words.resize(words.size() - 2);
  }
  if (words.size() < 3) return 2;
  const std::uint64_t seed = std::stoull(words[0]), count = std::stoull(words[1]);
  Logs logs;
  for (std::size_t i = 2; i < words.size(); ++i) {
    std::ifstream file(words[i], std::ios::binary);
    logs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (!folder.empty()) {
    const Logs damaged = mutant(logs, seed, count);
    for (std::size_t i = 0; i < damaged.size(); ++i) {
      std::ofstream file(folder + "/" + std::to_string(i) + kLogSuffix, std::ios::binary);
      file.write(damaged[i].data(), static_cast<std::streamsize>(damaged[i].size()));
    }
    return 0;
  }
  std::uint64_t shown = 0;
  for (std::uint64_t number = 0; number < count; ++number) {
    std::fprintf(stderr, "\rmutant %llu", static_cast<unsigned long long>(number));
    shown += merge_and_show(mutant(logs, seed, number));
  }
  std::printf("%llu mutants, %llu shown\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(shown));
  return 0;
}
