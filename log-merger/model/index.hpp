// Typed indices into a job's vectors: the type names the kind of row.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace uctrace {

struct CallStack;
struct Datatype;
struct Message;

namespace merge {

// For rows without a kind of their own here: MPI worlds, and the GPUs and memory of a Run.
using Index = std::int32_t;

// No row, of any kind.
struct None {
  constexpr operator Index() const { return -1; }
};
inline constexpr None kNone;

// The place of a row among those of its kind; kNone until it is set. Neither numbers nor indices of
// other kinds convert implicitly.
template <typename Of>
class IndexOf {
 public:
  constexpr IndexOf() = default;
  constexpr IndexOf(None) {}
  template <std::integral Number>
  constexpr explicit IndexOf(Number number) : number_(static_cast<std::int32_t>(number)) {}

  // -1: none.
  constexpr std::int32_t number() const { return number_; }
  // In a vector; there must be one.
  constexpr std::size_t place() const { return static_cast<std::size_t>(number_); }

  friend constexpr auto operator<=>(IndexOf, IndexOf) = default;

 private:
  std::int32_t number_ = -1;
};

// Of the rows [begin, end), for loops.
template <typename Of>
class Indexes {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = IndexOf<Of>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = value_type;

    explicit Iterator(std::size_t place) : place_(place) {}
    IndexOf<Of> operator*() const { return IndexOf<Of>(place_); }
    Iterator& operator++() {
      ++place_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(place_++); }
    bool operator==(const Iterator&) const = default;

   private:
    std::size_t place_;
  };

  Indexes(std::size_t begin, std::size_t end) : begin_(begin), end_(end) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }
  // The same as a list.
  std::vector<IndexOf<Of>> list() const { return {begin_, end_}; }

 private:
  Iterator begin_, end_;
};

// A place as a plain number: from a counting loop, or explicit in the source. Other numbers may
// mean anything.
class PlainPlace {
 public:
  template <std::unsigned_integral Number>
  constexpr PlainPlace(Number place) : place_(place) {}
  consteval PlainPlace(int place) : place_(static_cast<std::size_t>(place)) {}
  constexpr operator std::size_t() const { return place_; }

 private:
  std::size_t place_;
};

// A value for each row of one kind, addressed by its index.
template <typename Of, typename Value, typename Allocator = std::allocator<Value>>
class ByIndex : public std::vector<Value, Allocator> {
  using Vector = std::vector<Value, Allocator>;

 public:
  using Vector::Vector;
  typename Vector::reference operator[](IndexOf<Of> index) { return at_place(index.place()); }
  typename Vector::const_reference operator[](IndexOf<Of> index) const {
    return at_place(index.place());
  }
  typename Vector::reference operator[](PlainPlace place) { return at_place(place); }
  typename Vector::const_reference operator[](PlainPlace place) const { return at_place(place); }

  Indexes<Of> indexes() const { return {0, this->size()}; }
  // Of what comes next.
  IndexOf<Of> next_index() const { return IndexOf<Of>(this->size()); }
  IndexOf<Of> add(Value value) {
    this->push_back(std::move(value));
    return IndexOf<Of>(this->size() - 1);
  }

 private:
  typename Vector::reference at_place(std::size_t place) { return Vector::operator[](place); }
  typename Vector::const_reference at_place(std::size_t place) const {
    return Vector::operator[](place);
  }
};

// The rows themselves.
template <typename Row>
using Rows = ByIndex<Row, Row>;

struct Arrival;
struct Comm;
struct CommInstance;
struct CommObject;
struct Endpoint;
struct Interface;
struct LibraryCall;
struct MpiCall;
struct ProcessLog;
struct UcpOp;
struct UctOp;
using ArrivalIndex = IndexOf<Arrival>;
using CallIndex = IndexOf<MpiCall>;
using CommIndex = IndexOf<Comm>;  // of one process
using DatatypeIndex = IndexOf<Datatype>;
using EndpointIndex = IndexOf<Endpoint>;        // of one process
using InstanceIndex = IndexOf<CommInstance>;    // also of Run::communicators
using InterfaceIndex = IndexOf<Interface>;      // of one process
using LibraryCallIndex = IndexOf<LibraryCall>;  // of one process
using MessageIndex = IndexOf<Message>;
using ProcessIndex = IndexOf<ProcessLog>;  // also of Run::processes
using StackIndex = IndexOf<CallStack>;
using UcpIndex = IndexOf<UcpOp>;
using UctIndex = IndexOf<UctOp>;
using WindowIndex = IndexOf<CommObject>;  // of one process

}  // namespace merge

}  // namespace uctrace

template <typename Of>
struct std::hash<uctrace::merge::IndexOf<Of>> {
  std::size_t operator()(uctrace::merge::IndexOf<Of> index) const noexcept {
    return std::hash<std::int32_t>()(index.number());
  }
};
