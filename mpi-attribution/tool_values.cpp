#include "mpi-attribution/tool_values.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "event-log/format/definitions.hpp"
#include "event-log/recorder/counter_view.hpp"

namespace uctrace::mpi {

using log::CounterKind;
using log::CounterRow;

namespace {

CounterKind kind_of(Told told) {
  switch (told) {
    case Told::one_sided_sent:
      return CounterKind::one_sided_sent;
    case Told::one_sided_received:
      return CounterKind::one_sided_received;
    case Told::collective:
      return CounterKind::collective;
    case Told::one_to_all:
      return CounterKind::one_to_all;
    case Told::all_to_one:
      return CounterKind::all_to_one;
    case Told::all_to_all:
      return CounterKind::all_to_all;
    default:
      return CounterKind::external;
  }
}

std::uint64_t value_of(const CounterRow& row, bool bytes) {
  return bytes ? row.bytes : row.messages;
}

// Subject, kind, bin: a subject is the lower part of a key.
std::uint64_t place_of(log::CounterKey key) {
  return log::subject_of(key) << 16 | key >> log::kCounterSubjectBits;
}

int compare(const void* a, const void* b) {
  const std::uint64_t left = place_of(static_cast<const CounterRow*>(a)->key);
  const std::uint64_t right = place_of(static_cast<const CounterRow*>(b)->key);
  return left < right ? -1 : left > right;
}

// Adds an amount per member to all other members of each communicator.
struct Spreading {
  const std::uint64_t* of_comms;  // by number
  std::size_t comms;
  std::uint64_t* by_world;
  std::int32_t size, me;
};

bool spread(void* context, const log::CounterName& name) {
  const auto& to = *static_cast<const Spreading*>(context);
  if (name.kind != log::CounterNameKind::communicator || name.number >= to.comms) return true;
  const std::uint64_t value = to.of_comms[name.number];
  if (value == 0) return true;
  const bool inter = (name.value & log::kCommunicatorInter) != 0;
  const auto* runs = reinterpret_cast<const log::RankRun*>(&name + 1);
  for (std::size_t i = 0; i < name.words * sizeof(std::uint64_t) / sizeof *runs; ++i) {
    for (std::uint32_t k = 0; k < runs[i].count; ++k) {
      const std::int32_t rank = runs[i].first + static_cast<std::int32_t>(k) * runs[i].stride;
      if (rank >= 0 && rank < to.size && (inter || rank != to.me)) to.by_world[rank] += value;
    }
  }
  return true;
}

}  // namespace

CounterCopy::CounterCopy() : rows_(nullptr), count_(0) {
  // Other threads may add rows in between, anywhere among these: then copy again.
  for (std::size_t found = log::copy_counters(nullptr, 0);;) {
    const std::size_t room = found + found / 8 + 16;
    rows_ = static_cast<CounterRow*>(std::malloc(room * sizeof *rows_));
    if (rows_ == nullptr) return;
    found = log::copy_counters(rows_, room);
    if (found <= room) {
      count_ = found;
      return;
    }
    std::free(rows_);
  }
}

CounterCopy::CounterCopy(const CounterCopy& other)
    : rows_(static_cast<CounterRow*>(std::malloc((other.count_ + 1) * sizeof *rows_))), count_(0) {
  if (rows_ == nullptr) return;
  count_ = other.count_;
  std::memcpy(rows_, other.rows_, count_ * sizeof *rows_);
}

CounterCopy::~CounterCopy() { std::free(rows_); }

void CounterCopy::sort() {
  std::qsort(rows_, count_, sizeof *rows_, compare);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (kept != 0 && rows_[kept - 1].key == rows_[i].key) {
      rows_[kept - 1].messages += rows_[i].messages;
      rows_[kept - 1].bytes += rows_[i].bytes;
    } else {
      rows_[kept++] = rows_[i];
    }
  }
  count_ = kept;
}

void CounterCopy::subtract(const CounterCopy& earlier) {
  const CounterRow* was = earlier.begin();
  for (std::size_t i = 0; i < count_; ++i) {
    while (was != earlier.end() && place_of(was->key) < place_of(rows_[i].key)) ++was;
    if (was == earlier.end() || was->key != rows_[i].key) continue;
    rows_[i].messages -= was->messages;
    rows_[i].bytes -= was->bytes;
  }
}

CounterCopy* make_copy() {
  void* memory = std::malloc(sizeof(CounterCopy));
  if (memory == nullptr) return nullptr;
  auto* copy = new (memory) CounterCopy;
  if (copy->is_there()) {
    copy->sort();
    return copy;
  }
  free_copy(copy);
  return nullptr;
}

void free_copy(CounterCopy* copy) {
  if (copy == nullptr) return;
  copy->~CounterCopy();
  std::free(copy);
}

bool add_collectives(const CounterCopy& rows, bool bytes, std::uint64_t* by_world,
                     std::int32_t size) {
  std::size_t comms = 0;
  for (const CounterRow& row : rows) {
    const std::uint64_t subject = log::subject_of(row.key);
    if (log::kind_of(row.key) == CounterKind::collective) {
      if (subject < static_cast<std::uint64_t>(size)) by_world[subject] += value_of(row, bytes);
    } else if (log::kind_of(row.key) == CounterKind::collective_each && subject >= comms) {
      comms = subject + 1;
    }
  }
  if (comms == 0) return true;
  auto* of_comms = static_cast<std::uint64_t*>(std::calloc(comms, sizeof(std::uint64_t)));
  if (of_comms == nullptr) return false;
  for (const CounterRow& row : rows) {
    if (log::kind_of(row.key) == CounterKind::collective_each) {
      of_comms[log::subject_of(row.key)] += value_of(row, bytes);
    }
  }
  Spreading to{of_comms, comms, by_world, size, log::counter_world().rank};
  log::visit_counter_names(&to, spread);
  std::free(of_comms);
  return true;
}

bool read_values(const PerformanceVariable& variable, const BoundComm& comm, std::uint64_t* out) {
  const CounterCopy rows;
  if (!rows.is_there()) return false;
  const CounterKind kind = kind_of(variable.told);
  if (!variable.is_by_peer()) {
    *out = 0;
    for (const CounterRow& row : rows) {
      const bool asked = log::kind_of(row.key) == kind && log::subject_of(row.key) == comm.number;
      if (asked) *out += value_of(row, variable.bytes);
    }
    return true;
  }
  std::int32_t size = 0;
  for (std::int32_t i = 0; i < comm.size; ++i) {
    if (comm.world_ranks[i] >= size) size = comm.world_ranks[i] + 1;
  }
  auto* by_world =
      static_cast<std::uint64_t*>(std::calloc(static_cast<std::size_t>(size) + 1, sizeof *out));
  if (by_world == nullptr) return false;
  bool whole = true;
  if (variable.told == Told::collective) {
    whole = add_collectives(rows, variable.bytes, by_world, size);
  } else {
    for (const CounterRow& row : rows) {
      const std::uint64_t peer = log::subject_of(row.key);
      if (log::kind_of(row.key) == kind && peer < static_cast<std::uint64_t>(size)) {
        by_world[peer] += value_of(row, variable.bytes);
      }
    }
  }
  for (std::int32_t i = 0; i < comm.size; ++i) {
    out[i] = comm.world_ranks[i] >= 0 ? by_world[comm.world_ranks[i]] : 0;
  }
  std::free(by_world);
  return whole;
}

}  // namespace uctrace::mpi
