// Groups of sends and receives that could be partners. Private to the matching.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/match/match_parts.hpp"

namespace uctrace::merge {

// Equal for possible partners. For active messages the handler knows more than its id: the lengths,
// and whether the message came from the process itself, which has its own transport. The rest is
// separated by content (am_contents.hpp).
struct MessageKey {
  std::uint64_t worker_uid, tag;
  log::UcpFamily sent_by = log::UcpFamily::tag_send;
  std::uint64_t bytes = 0, header_bytes = 0;  // only for active messages, like from_self
  bool from_self = false;
  bool operator==(const MessageKey&) const = default;
};

struct MessageKeyHash {
  std::size_t operator()(const MessageKey& key) const {
    std::uint64_t hash = ((key.worker_uid ^ key.bytes) * 0x9E3779B97F4A7C15u) ^ key.tag;
    hash *= 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 29);
  }
};

using MessageGroups = std::unordered_map<MessageKey, Group, MessageKeyHash>;

// Receives of one worker that may have taken any fitting message. By mask, of which programs use
// few, and masked tag: the place of the first one in posting order.
class UnknownReceives {
 public:
  void add(const UcpOp& receive);
  void add(const UnknownReceives& others);
  // The place in posting order from which on one of them may have taken a send of the key: from
  // there the k-th known receive may not be the k-th receive.
  std::uint64_t first_doubtful_tick(const MessageKey& key) const;

 private:
  void add(std::uint64_t mask, std::uint64_t tag, std::uint64_t tick);

  std::map<std::uint64_t, std::unordered_map<std::uint64_t, std::uint64_t>> first_;
};

class AmContents;

// All sends and receives to match except streams, in parts by the hash of the key: parts are
// independent.
class HalfMessages {
 public:
  // Also sets the match of one-sided operations, which need no partner: whether their target is
  // known.
  HalfMessages(Job& job, const AmContents& contents);

  static constexpr std::size_t kParts = 64;
  static std::size_t part_of(const MessageKey& key) { return MessageKeyHash{}(key) % kParts; }
  // Each in the order of the job's vector.
  MessageGroups groups_of(std::size_t part) const;
  // nullptr: the worker has none.
  const UnknownReceives* unknown_of(std::uint64_t worker_uid) const;

 private:
  struct Half {
    MessageKey key;
    HalfMessage half;
    bool is_send;
  };
  // What is found in the rows of a process.
  struct OfProcess {
    std::vector<Half> halves;  // part by part
    std::array<std::size_t, kParts + 1> part_begin{};
    std::unordered_map<std::uint64_t, UnknownReceives> unknown;  // by worker uid
  };

  static void collect(Job& job, const AmContents& contents, RowSpan rows, OfProcess& found);
  static void lay_by_part(OfProcess& found);

  std::vector<OfProcess> found_;
  std::unordered_map<std::uint64_t, UnknownReceives> unknown_;
};

}  // namespace uctrace::merge
