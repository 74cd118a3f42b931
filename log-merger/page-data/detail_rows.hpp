// The rows that a page, or a tile of one, lists one by one, wherever they are read from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "log-merger/model/model.hpp"

namespace uctrace {

// A row with its number in the run, and its place among the listed rows of its kind. These are in
// the order of process, then start; messages, which have no process, in the order of start.
template <typename Row>
using VisitDetail = std::function<void(const Row& row, std::size_t number, std::size_t place)>;
using VisitPath =
    std::function<void(const Message& message, std::span<const Hop> path, std::size_t place)>;

class DetailRows {
 public:
  virtual ~DetailRows() = default;
  virtual std::size_t count(RowsOf table) const = 0;
  // Visits each row once, in any order of their places.
  virtual void each(const VisitDetail<MpiCallRow>& visit) const = 0;
  virtual void each(const VisitDetail<UcpOperationRow>& visit) const = 0;
  virtual void each(const VisitDetail<Transfer>& visit) const = 0;
  virtual void each(const VisitDetail<Message>& visit) const = 0;
  // Visits the messages with their paths.
  virtual void each_path(const VisitPath& visit) const = 0;
  // The cell that counts a message that is listed, or that a listed row serves. nullopt: no cell
  // does.
  virtual std::optional<std::uint32_t> cell_of(std::int64_t message) const = 0;
};

}  // namespace uctrace
