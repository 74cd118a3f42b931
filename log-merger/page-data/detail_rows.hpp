// The rows that a page, or a tile of one, tells singly, from wherever they are read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "log-merger/model/model.hpp"

namespace uctrace {

// A row with its number in the run, and its place among those of its kind that are told: these
// stand in the order of process, then start; messages, which have no process, in that of start.
template <typename Row>
using VisitDetail = std::function<void(const Row& row, std::size_t number, std::size_t place)>;
using VisitPath =
    std::function<void(const Message& message, std::span<const Hop> path, std::size_t place)>;

class DetailRows {
 public:
  virtual ~DetailRows() = default;
  virtual std::size_t count(RowsOf table) const = 0;
  // Each row once, in any order of their places.
  virtual void each(const VisitDetail<MpiCallRow>& visit) const = 0;
  virtual void each(const VisitDetail<UcpOperationRow>& visit) const = 0;
  virtual void each(const VisitDetail<Transfer>& visit) const = 0;
  virtual void each(const VisitDetail<Message>& visit) const = 0;
  // The messages with their paths.
  virtual void each_path(const VisitPath& visit) const = 0;
  // Where a message is counted that is told, or that a row serves which is. nullopt: nowhere.
  virtual std::optional<std::uint32_t> cell_of(std::int64_t message) const = 0;
};

}  // namespace uctrace
