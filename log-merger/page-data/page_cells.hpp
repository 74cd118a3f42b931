// The traffic of a run as cells: source x destination x class, where a class is everything that a
// filter can ask of a message. Sums are exact; the number of cells goes by the number of different
// classes and pairs, not of events. Of each message four bytes are kept: its cell.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/page-data/page_window.hpp"
#include "log-merger/row-source/wanted.hpp"

namespace uctrace {

struct PathTotals {
  std::uint64_t count = 0, bytes = 0, wire_bytes = 0;

  PathTotals& operator+=(const PathTotals& more) {
    count += more.count;
    bytes += more.bytes;
    wire_bytes += more.wire_bytes;
    return *this;
  }
};

// Where traffic is counted: a cell, and a step of its path.
struct CellStep {
  std::uint32_t cell = 0, step = 0;
  auto operator<=>(const CellStep&) const = default;
};

class PageCells {
 public:
  // Keeps a reference to `run`, but asks it for no rows.
  PageCells(const Run& run, const PageWindow& window) : run_(run), window_(window) {}

  // What add() looks at.
  static Wanted<Message> of_messages();
  static Wanted<Hop> of_paths();
  static Wanted<Transfer> of_transfers();

  // All messages in their order, then all transfers in theirs. Where each is counted; nowhere: it
  // is not in the window.
  struct Placed {
    std::uint32_t cell;
    std::span<const PathTotals> path;  // by step; valid until the next call
  };
  std::optional<Placed> add(const Message& message, std::span<const Hop> path);
  std::optional<CellStep> add(const Transfer& transfer);

  // Of what was added: a message by its number.
  std::optional<std::uint32_t> cell_of_message(std::size_t message) const;
  std::optional<CellStep> place_of(const Transfer& transfer) const;
  // The steps of all cells have one number each, cell after cell. Once all is added.
  std::size_t total_of(CellStep place) const;

  // What the paths of classes are made of, each once.
  nlohmann::ordered_json steps_json() const;
  nlohmann::ordered_json classes_json() const;
  nlohmann::ordered_json cells_json() const;

 private:
  static constexpr std::uint32_t kNowhere = UINT32_MAX;

  // The order of members is the order along the path.
  struct Step {
    std::uint16_t hop = 0;
    Role role = Role::data;
    TextId transport = kNoText, device = kNoText, op = kNoText;
    Side issued_by = Side::src;
    MemoryPlace from, to;
    bool network = false;
    TextId remote_device = kNoText;
    auto operator<=>(const Step&) const = default;
  };
  // What a class is of. Of transfers that serve no message, why.
  enum class Of : std::uint8_t { message, reason, unattributed, no_message };
  struct TrafficClass {
    Of of = Of::message;
    MessageKind kind = MessageKind::tag;
    Match match = Match::unmatched;
    MemoryPlace src, dst;  // of the message's data
    TextId mpi = kNoText, comm = kNoText, protocol = kNoText, reason = kNoText;
    int size = -1;  // bits of the payload's length: 2^(size-1) <= bytes < 2^size; 0 for none
    std::vector<std::uint32_t> path;  // into steps_
    auto operator<=>(const TrafficClass&) const = default;
  };
  struct CellKey {
    std::int32_t src = -1, dst = -1;
    std::uint32_t traffic_class = 0;
    auto operator<=>(const CellKey&) const = default;
  };
  struct Cell {
    CellKey key;
    std::uint64_t messages = 0, bytes = 0;
    std::vector<PathTotals> transfers;  // of the steps of the class
  };

  static Step step_of(const Hop& hop);
  static Step step_of(const Transfer& transfer);
  static TrafficClass class_of(const Message& message);
  static TrafficClass class_of(const Transfer& transfer);
  void sum_path(std::span<const Hop> path);
  std::uint32_t number_of(const Step& step);
  std::uint32_t cell_at(std::int32_t src, std::int32_t dst, TrafficClass traffic_class);
  std::optional<CellStep> step_of_message(const Transfer& transfer) const;
  nlohmann::ordered_json step_json(const Step& step) const;
  nlohmann::ordered_json class_json(const TrafficClass& traffic_class) const;
  nlohmann::ordered_json text(TextId id) const;
  std::string name(TextId id) const;

  const Run& run_;
  const PageWindow window_;
  std::map<Step, std::uint32_t> step_numbers_;
  std::vector<const Step*> steps_;  // by number: in order of first appearance
  std::map<TrafficClass, std::uint32_t> class_numbers_;
  std::vector<const TrafficClass*> classes_;  // by number: in order of first appearance
  std::map<CellKey, std::uint32_t> cell_numbers_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> first_total_;        // of each cell
  std::vector<std::uint32_t> cell_of_message_;  // or kNowhere
  // Of the message that is added, in the order of the path.
  std::vector<std::pair<Step, PathTotals>> path_steps_;
  std::vector<PathTotals> path_totals_;
};

}  // namespace uctrace
