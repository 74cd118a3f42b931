// The traffic of a run as cells: source x destination x class, where a class is everything that a
// filter can ask of a message. Sums are exact; the number of cells goes by the number of different
// classes and pairs, not of events.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace {

struct PathTotals {
  std::uint64_t count = 0, bytes = 0, wire_bytes = 0;
};

// Where the traffic of one message, or of one transfer that serves none, is counted. Indexes into
// PageCells: `transfers` is the first transfer total of the cell.
struct CellPlace {
  std::size_t cell = 0, transfers = 0;
};

class PageCells {
 public:
  // The messages and transfers that belong to [from_ns, to_ns). What has no known time belongs to
  // the whole run alone, as for the command line.
  // Keeps a reference to `run`.
  PageCells(const Run& run, std::int64_t from_ns, std::int64_t to_ns, bool is_part = false);

  // Messages and transfers outside of the window have the place kNowhere.
  static constexpr std::size_t kNowhere = SIZE_MAX;
  std::size_t cell_of_message(std::size_t message) const { return cell_of_message_[message]; }
  // Of the transfers in Run::transfers: the total that counts it, or kNowhere.
  std::size_t total_of_transfer(const Transfer& transfer, std::size_t index) const;

  // Calls visit(total, sums) for each transfer total of a message that is in the window.
  template <typename Visit>
  void visit_path(std::size_t message, Visit visit) const {
    const std::size_t first = first_total(cell_of_message_[message]);
    std::size_t step = 0;
    for (const auto& [key, sums] : path_sums(run_.messages[message])) visit(first + step++, sums);
  }

  // What the paths of classes are made of, each once.
  nlohmann::ordered_json steps_json() const;
  nlohmann::ordered_json classes_json() const;
  nlohmann::ordered_json cells_json() const;

 private:
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
  // `match` and `kind` are empty for transfers without a message.
  struct TrafficClass {
    MemoryPlace src, dst;  // of the message's data
    TextId mpi = kNoText, comm = kNoText, protocol = kNoText;
    std::string kind, match, reason;
    int size = -1;  // bits of the payload's length: 2^(size-1) <= bytes < 2^size; 0 for none
    std::vector<std::size_t> path;  // into steps_
    auto operator<=>(const TrafficClass&) const = default;
  };
  struct CellKey {
    std::int32_t src = -1, dst = -1;
    std::size_t traffic_class = 0;
    auto operator<=>(const CellKey&) const = default;
  };
  struct Cell {
    CellKey key;
    std::uint64_t messages = 0, bytes = 0;
    std::vector<PathTotals> transfers;  // of the steps of the class
  };

  static Step step_of(const Hop& hop);
  static Step step_of(const Transfer& transfer);
  std::map<Step, PathTotals> path_sums(const Message& message) const;
  std::size_t first_total(std::size_t cell) const { return first_total_[cell]; }
  std::size_t number_of(const Step& step);
  std::size_t add(const Message& message);
  std::size_t add(const Transfer& transfer);
  std::size_t cell_at(std::int32_t src, std::int32_t dst, TrafficClass traffic_class);
  nlohmann::ordered_json step_json(const Step& step) const;
  nlohmann::ordered_json class_json(const TrafficClass& traffic_class) const;
  nlohmann::ordered_json text(TextId id) const;
  std::string name(TextId id) const;

  const Run& run_;
  std::map<Step, std::size_t> step_numbers_;
  std::vector<const Step*> steps_;  // by number: in order of first appearance
  std::map<TrafficClass, std::size_t> class_numbers_;
  std::vector<const TrafficClass*> classes_;  // by number: in order of first appearance
  std::map<CellKey, std::size_t> cell_numbers_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> first_total_;  // of each cell, and the end
  std::vector<std::size_t> cell_of_message_;
  std::map<std::size_t, std::size_t> cell_of_transfer_;  // of those that serve no message
};

}  // namespace uctrace
