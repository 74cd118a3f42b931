// The members of a row that a reader needs. A store reads only their columns.
#pragma once

#include <bitset>
#include <cstddef>

namespace uctrace {

template <typename Row>
class Wanted {
 public:
  Wanted() = default;  // none
  template <typename First, typename... Others>
  Wanted(First Row::*first, Others Row::*... others) {
    set(first);
    (set(others), ...);
  }
  static Wanted all() {
    Wanted all;
    all.begins_.set();
    return all;
  }

  template <typename Value>
  bool has(Value Row::*member) const {
    return begins_[begin_of(member)];
  }
  bool any() const { return begins_.any(); }
  Wanted& operator|=(const Wanted& other) {
    begins_ |= other.begins_;
    return *this;
  }
  friend Wanted operator|(Wanted a, const Wanted& b) { return a |= b; }

 private:
  template <typename Value>
  void set(Value Row::*member) {
    begins_.set(begin_of(member));
  }
  // A member is identified by its first byte.
  template <typename Value>
  static std::size_t begin_of(Value Row::*member) {
    static const Row row{};
    return static_cast<std::size_t>(reinterpret_cast<const char*>(&(row.*member)) -
                                    reinterpret_cast<const char*>(&row));
  }

  std::bitset<sizeof(Row)> begins_;
};

}  // namespace uctrace
