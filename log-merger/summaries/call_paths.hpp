// Call stacks as words: "solve (a.c:10) < main (a.c:30)", innermost first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace {

// By text: stacks with other addresses on the same lines are one path.
class CallPaths {
 public:
  explicit CallPaths(const Run& run) : run_(run), of_stack_(run.stacks.size(), kNotYet) {}

  // Of a row of stacks, or of none.
  std::int64_t number_of(std::int32_t stack) {
    if (stack < 0) return -1;
    std::int64_t& known = of_stack_[static_cast<std::size_t>(stack)];
    if (known == kNotYet) {
      const std::string text = text_of(stack);
      known = text.empty() ? -1 : number_of(text);
    }
    return known;
  }

  const std::string& text(std::size_t number) const { return texts_[number]; }

 private:
  static constexpr std::int64_t kNotYet = -2;

  std::int64_t number_of(const std::string& text) {
    const auto next = static_cast<std::int64_t>(texts_.size());
    const auto [place, fresh] = numbers_.try_emplace(text, next);
    if (fresh) texts_.push_back(text);
    return place->second;
  }

  // If the whole stack was not recorded, only the caller.
  std::string text_of(std::int32_t row) const {
    const CallStack& stack = run_.stacks[static_cast<std::size_t>(row)];
    if (stack.frames == 0) return run_.texts[call_site_of(run_, row)];
    std::string path;
    for (std::uint32_t i = 0; i < stack.frames; ++i) {
      const CodeFrame& frame = run_.frames[run_.stack_frames[stack.first_frame + i].frame];
      if (i > 0) path += " < ";
      path += label_of(run_, frame);
    }
    return stack.truncated ? path + " < ..." : path;
  }

  const Run& run_;
  std::vector<std::int64_t> of_stack_;
  std::map<std::string, std::int64_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace uctrace
