#include "log-merger/ranks/ranks.hpp"

#include <algorithm>
#include <cstring>

#include "event-log/reader/error.hpp"

namespace uctrace {
namespace {

template <typename Value>
std::span<const std::uint8_t> bytes_of(const Value& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

template <typename Value>
Value value_in(const Ranks::Bytes& bytes) {
  Value value{};
  if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

void Ranks::check(int error) const {
  if (error == 0) return;
  throw Error({"cannot merge by several processes",
               "MPI failed with error " + std::to_string(error),
               "merge without the launcher: uctrace merge DIR"});
}

std::vector<Ranks::Bytes> Ranks::gather(std::span<const std::uint8_t> bytes) const {
  if (plugin_ == nullptr) return {Bytes(bytes.begin(), bytes.end())};
  std::vector<Bytes> all(is_first() ? size() : 0);
  const auto room = [](void* context, int rank, std::uint64_t count) -> void* {
    Bytes& of_rank = (*static_cast<std::vector<Bytes>*>(context))[static_cast<std::size_t>(rank)];
    of_rank.resize(count);
    return of_rank.data();
  };
  check(plugin_->gather(bytes.data(), bytes.size(), room, &all));
  return all;
}

std::string Ranks::from_first(std::string text) const {
  if (plugin_ == nullptr) return text;
  std::uint64_t bytes = text.size();
  check(plugin_->broadcast(&bytes, sizeof bytes));
  text.resize(bytes);
  check(plugin_->broadcast(text.data(), bytes));
  return text;
}

bool Ranks::all_same(std::uint64_t value) const {
  const std::vector<Bytes> all = gather(bytes_of(value));
  const bool same =
      std::all_of(all.begin(), all.end(), [&](const Bytes& of_rank) { return of_rank == all[0]; });
  return from_first(same ? "y" : "n") == "y";
}

std::size_t Ranks::first_that(bool says_so) const {
  const std::vector<Bytes> all = gather(bytes_of(says_so));
  const auto found = std::find_if(all.begin(), all.end(),
                                  [](const Bytes& bytes) { return value_in<bool>(bytes); });
  return std::stoul(from_first(std::to_string(found - all.begin())));
}

void Ranks::end() const {
  if (plugin_ != nullptr) plugin_->end();
}

void Ranks::abort(int status) const {
  if (plugin_ != nullptr) plugin_->abort(status);
}

}  // namespace uctrace
