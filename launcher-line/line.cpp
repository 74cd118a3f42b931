#include "launcher-line/line.hpp"

namespace uctrace::launcher {

Words Line::result() const {
  Words result;
  for (std::size_t at = 0; at <= words_.size(); ++at) {
    if (const auto found = inserted_.find(at); found != inserted_.end()) {
      result.insert(result.end(), found->second.begin(), found->second.end());
    }
    if (at == words_.size()) break;
    const auto found = replaced_.find(at);
    result.push_back(found != replaced_.end() ? found->second : words_[at]);
  }
  return result;
}

}  // namespace uctrace::launcher
