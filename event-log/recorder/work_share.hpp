// How many threads share the packer's work (packing_team.hpp): more while the ring of chunks stays
// full and cores are free, none when the demand falls. Private to the packer and its start.
#pragma once

#include <cstdint>

namespace uctrace::log {

// The use of cores between two looks. Times in ns.
struct CoreUse {
  std::uint64_t cores;      // that the process may run on
  std::uint64_t wall, cpu;  // cpu: of all threads of the process
  std::uint64_t turns;      // duration of the packing turns
  std::uint64_t turns_cpu;  // the packing thread's CPU time in them
  std::uint64_t waited;     // how long it was runnable without a core
};

// The clocks at a look. Times in ns.
struct Clocks {
  std::uint64_t cores, wall, cpu, waited;  // as above, since any time
};

// How much waits to be packed.
enum class Demand { small, middling, full };

// How many threads should assist from now on, at most `most`, if `now` assist at present.
std::uint32_t next_assistants(std::uint32_t now, std::uint32_t most, Demand demand,
                              const CoreUse& use);

// How many assistants the user allows (UCTRACE_HELPERS). Reads the environment.
std::uint32_t most_assistants();

// All assist in each turn. For tests.
extern bool test_shares_always;

// For the packing thread. Zeroed memory is a valid object.
class WorkShare {
 public:
  void allow(std::uint32_t assistants) { most_ = assistants; }
  // Before a turn: returns how many assist in it. `waiting` chunks, of at most `bound`, wait to be
  // packed.
  std::uint32_t begin_turn(std::uint64_t waiting, std::uint64_t bound);
  void end_turn();

  // The parts of these functions that read no clock.
  std::uint32_t look(const Clocks& now, std::uint64_t waiting, std::uint64_t bound);
  void add_turn(std::uint64_t ns, std::uint64_t cpu_ns) {
    turns_ += ns;
    turns_cpu_ += cpu_ns;
  }

 private:
  std::uint32_t most_, assistants_;
  bool was_full_;                              // when it looked last
  std::uint64_t last_look_, cpu_then_;         // of the process
  std::uint64_t waited_then_;                  // of who packs
  std::uint64_t turn_begun_, turn_cpu_begun_;  // of who packs
  std::uint64_t turns_, turns_cpu_;            // since the last look
};

}  // namespace uctrace::log
