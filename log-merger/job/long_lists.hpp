// Shortens lists in notes: the first entries, and how many more there are. A folder may hold ten
// thousand similar logs. Private to log-merger/.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uctrace::merge {

inline constexpr std::size_t kNamedInNotes = 16;

// "a, b, c and 7 more".
class NamedList {
 public:
  void add(std::string_view name) {
    if (count_++ < kNamedInNotes) {
      names_ += names_.empty() ? "" : ", ";
      names_ += name;
    }
  }
  bool is_full() const { return count_ >= kNamedInNotes; }
  bool empty() const { return count_ == 0; }
  std::string text() const { return text_of(count_); }
  // The same for `count` in all, of which only the first ones were added.
  std::string text_of(std::uint64_t count) const {
    return count > kNamedInNotes ? names_ + fmt::format(" and {} more", count - kNamedInNotes)
                                 : names_;
  }

 private:
  std::string names_;
  std::uint64_t count_ = 0;
};

// Notes of one kind, a line each.
class NotesOfKind {
 public:
  // `rest` describes those without a line, after their number.
  NotesOfKind(std::vector<std::string>& notes, std::string rest)
      : notes_(notes), rest_(std::move(rest)) {}
  NotesOfKind(const NotesOfKind&) = delete;
  NotesOfKind& operator=(const NotesOfKind&) = delete;
  ~NotesOfKind() {
    if (count_ > kNamedInNotes) {
      notes_.push_back(fmt::format("{} {}", count_ - kNamedInNotes, rest_));
    }
  }

  void add(std::string note) {
    if (count_++ < kNamedInNotes) notes_.push_back(std::move(note));
  }
  // Several lines about one log count as one.
  void add(std::vector<std::string> lines) {
    if (count_++ >= kNamedInNotes) return;
    for (std::string& line : lines) notes_.push_back(std::move(line));
  }

 private:
  std::vector<std::string>& notes_;
  const std::string rest_;
  std::size_t count_ = 0;
};

}  // namespace uctrace::merge
