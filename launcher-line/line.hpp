// A command line under edit. The user's words keep their positions while words are replaced and
// inserted, so no edit can lose or move an argument.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace uctrace::launcher {

using Words = std::vector<std::string>;

class Line {
 public:
  explicit Line(Words words) : words_(std::move(words)) {}

  // As typed.
  const Words& words() const { return words_; }
  std::size_t size() const { return words_.size(); }
  const std::string& operator[](std::size_t at) const { return words_[at]; }

  void replace(std::size_t at, std::string word) { replaced_[at] = std::move(word); }
  // Before word `at` (size() = at the end), after earlier insertions there.
  void insert(std::size_t at, const Words& words) {
    Words& here = inserted_[at];
    here.insert(here.end(), words.begin(), words.end());
  }

  bool is_edited() const { return !replaced_.empty() || !inserted_.empty(); }
  Words result() const;

 private:
  Words words_;
  std::map<std::size_t, std::string> replaced_;
  std::map<std::size_t, Words> inserted_;
};

}  // namespace uctrace::launcher
