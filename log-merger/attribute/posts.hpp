// What was posted with which header. Private to attribute.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
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
  // In the order of time.
  void add(const HeaderKey& key, std::int64_t at_ns, UcpIndex serves) {
    posts_.push_back({key, at_ns, serves});
  }
  // After it, the others may be used.
  void seal() {
    std::stable_sort(posts_.begin(), posts_.end(),
                     [](const Post& a, const Post& b) { return a.key < b.key; });
    seen_.resize(posts_.size());
  }

  // All with this header; none: empty.
  std::span<const Post> of(const HeaderKey& key) const {
    const auto [first, last] = std::equal_range(posts_.begin(), posts_.end(), key, ByKey());
    return {first, last};
  }
  // How many arrivals with the header of `posts` were seen before, this one not counted.
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
