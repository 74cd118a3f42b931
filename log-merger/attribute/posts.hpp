// What was posted with which header. Private to log-merger/attribute/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "log-merger/attribute/attribution.hpp"

namespace uctrace::merge {

// A first fragment, and the operation that it serves.
struct Post {
  HeaderKey key;
  std::int64_t at_ns;
  UcpIndex serves;
};

// Sorted once by header; those of one header in the order of time.
class Posts {
 public:
  void add(const std::vector<Post>& posts) {
    posts_.insert(posts_.end(), posts.begin(), posts.end());
  }
  // After it, the others may be used. In the order of time, not of recording threads: a header may
  // be the same again, when a buffer and a request are used again.
  void seal() {
    std::stable_sort(posts_.begin(), posts_.end(), [](const Post& a, const Post& b) {
      return std::tie(a.key, a.at_ns) < std::tie(b.key, b.at_ns);
    });
    seen_.resize(posts_.size());
  }

  // All with this header; none: empty.
  std::span<const Post> of(const HeaderKey& key) const {
    const auto [first, last] = std::equal_range(posts_.begin(), posts_.end(), key, ByKey());
    return {first, last};
  }
  // How many arrivals with the header of `posts` were seen before, this one not counted. Arrivals
  // with different headers may be counted at once.
  std::size_t count_arrival(std::span<const Post> posts) {
    return seen_[static_cast<std::size_t>(posts.data() - posts_.data())]++;
  }

 private:
  struct ByKey {
    bool operator()(const Post& a, const HeaderKey& b) const { return a.key < b; }
    bool operator()(const HeaderKey& a, const Post& b) const { return a < b.key; }
  };

  std::vector<Post> posts_;
  std::vector<std::uint32_t> seen_;  // at the first post of a header
};

}  // namespace uctrace::merge
