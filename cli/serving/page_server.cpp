#include "cli/serving/page_server.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "event-log/reader/error.hpp"

namespace uctrace::serving {
namespace {

// Takes the same time for a wrong token as for the right one.
bool is_same_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

std::optional<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_all = error == std::errc() && end == text.data() + text.size();
  return is_all ? std::optional(number) : std::nullopt;
}

// "FROM-TO"; nothing if it is not a span.
std::optional<Span> read_span(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto from = read_number(text.substr(0, dash)), to = read_number(text.substr(dash + 1));
  if (!from || !to || *from >= *to) return std::nullopt;
  return Span{*from, *to};
}

// "tiles/N.js"; nothing if it is not a tile.
std::optional<std::size_t> read_tile(std::string_view text) {
  constexpr std::string_view kBefore = "tiles/", kBehind = ".js";
  if (!text.starts_with(kBefore) || !text.ends_with(kBehind) ||
      text.size() <= kBefore.size() + kBehind.size()) {
    return std::nullopt;
  }
  text.remove_prefix(kBefore.size());
  text.remove_suffix(kBehind.size());
  return read_number(text);
}

}  // namespace

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Error({.what = "cannot make an address that nobody guesses",
                 .why = std::string("the system gives no random numbers: ") + std::strerror(errno),
                 .to_do = "write the page to a file: leave out --serve"});
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

PageServer::PageServer(std::string token, std::string policy, std::string whole, MakePage make_page,
                       MakeTile make_tile)
    : token_(std::move(token)),
      policy_(std::move(policy)),
      whole_(std::move(whole)),
      make_page_(std::move(make_page)),
      make_tile_(std::move(make_tile)) {}

HttpAnswer PageServer::found(std::string body, const char* content_type) const {
  return {.status = 200,
          .content_type = content_type,
          .body = std::move(body),
          .more_head = "Cross-Origin-Resource-Policy: same-origin\r\n",
          .policy = policy_};
}

HttpAnswer PageServer::answer(const HttpRequest& request) const {
  if (is_from_another_origin(request)) {
    return plain_answer(403, "a page of another origin asks; open the address by itself");
  }
  const std::string_view path = request.path;
  const std::size_t end = path.find('/', 1);
  if (end == std::string_view::npos || !is_same_text(path.substr(1, end - 1), token_)) {
    return plain_answer(403, "the address lacks the token that uctrace view --serve printed");
  }
  const std::string_view rest = path.substr(end + 1);
  if (rest.empty()) return found(whole_);
  if (make_tile_) {
    const std::optional<std::size_t> number = read_tile(rest);
    std::optional<std::string> tile = number ? make_tile_(*number) : std::nullopt;
    if (!tile) return plain_answer(404, "there is nothing here; a tile is tiles/N.js");
    return found(std::move(*tile), "text/javascript; charset=utf-8");
  }
  const std::optional<Span> span = read_span(rest);
  if (!span) return plain_answer(404, "there is nothing here; a span is FROM-TO, in nanoseconds");
  return found(make_page_(*span));
}

}  // namespace uctrace::serving
