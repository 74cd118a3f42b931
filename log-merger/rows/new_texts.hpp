// The texts of rows that are made in parallel parts: they get the same ids as in a sequential run.
// Private to log-merger/rows/.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace::merge {

// For one part. `known` must not change while parts are made.
class NewTexts {
 public:
  explicit NewTexts(const Texts& known) : known_(&known) {}

  // The id of a known text; else one that is valid within this part until settle().
  TextId id_of(std::string_view text) {
    if (text.empty()) return kNoText;
    if (const TextId id = known_->find(text); id != kUnknownText) return id;
    const auto next = static_cast<TextId>(kFirst + texts_.size());
    const auto [at, fresh] = ids_.try_emplace(std::string(text), next);
    if (fresh) texts_.push_back(at->first);
    return at->second;
  }

  // The same for a frequent text at a permanent address, such as a literal.
  TextId id_of_constant(std::string_view text) {
    Constant& known = constants_[reinterpret_cast<std::uintptr_t>(text.data()) % kConstants];
    if (known.text.data() != text.data() || known.text.size() != text.size()) {
      known = {text, id_of(text)};
    }
    return known.id;
  }

  bool empty() const { return texts_.empty(); }
  // Adds them to the common texts, part by part in order.
  void intern_in(Texts& texts) {
    for (const std::string& text : texts_) final_.push_back(texts.intern(text));
    constants_ = {};
  }
  // After intern_in(): the final id for one from id_of().
  void settle(TextId& id) const {
    if (id >= kFirst) id = final_[id - kFirst];
  }

 private:
  static constexpr TextId kFirst = TextId{1} << 31;
  static constexpr std::size_t kConstants = 61;

  struct Constant {
    std::string_view text;
    TextId id = kNoText;
  };

  const Texts* known_;
  std::vector<std::string> texts_;  // as they came
  std::unordered_map<std::string, TextId> ids_;
  std::vector<TextId> final_;
  std::array<Constant, kConstants> constants_;  // those asked for last, by their address
};

}  // namespace uctrace::merge
