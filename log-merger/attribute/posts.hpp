// The posts of each header. Private to log-merger/attribute/.
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

// Sorted once by header, and within a header by time.
class Posts {
 public:
  void add(const std::vector<Post>& posts) {
    posts_.insert(posts_.end(), posts.begin(), posts.end());
  }
  // Call it before the functions below. By time, not by thread: a header repeats when a buffer and
  // a request are reused.
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
  // How many arrivals with the header of `posts` came before this one. Different headers may be
  // counted in parallel.
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
