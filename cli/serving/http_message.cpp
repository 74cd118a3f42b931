#include "cli/serving/http_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "event-log/reader/trimmed.hpp"

namespace uctrace::serving {
namespace {

using State = ParsedRequest::State;

constexpr std::string_view kScheme = "http://";
constexpr std::uint16_t kUsualPort = 80;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The form of a method or header name (RFC 9110, 5.6.2).
bool is_token(std::string_view text) {
  for (const char c : text) {
    if (!is_letter(c) && !is_digit(c) &&
        std::string_view("!#$%&'*+-.^_`|~").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return !text.empty();
}

bool equals_but_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

// HTTP has none: this is another protocol, such as TLS.
bool has_control_character(std::string_view bytes) {
  for (const char c : bytes) {
    if ((c >= 0 && c < ' ' && c != '\t' && c != '\r' && c != '\n') || c == 0x7f) return true;
  }
  return false;
}

// Up to the empty line, or everything so far.
std::string_view head_of(std::string_view bytes) {
  for (std::size_t at = bytes.find('\n'); at != std::string_view::npos;
       at = bytes.find('\n', at + 1)) {
    const std::string_view next = bytes.substr(at + 1);
    if (next.starts_with('\n') || next.starts_with("\r\n")) return bytes.substr(0, at);
  }
  return bytes;
}

// Takes the next line from `bytes`, without its end; nothing if the line is incomplete.
std::optional<std::string_view> next_line(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// "/path?query", or a full URL as for a proxy. Returns why it is bad, or nothing.
const char* take_target(HttpRequest& request, std::string_view target) {
  if (target.size() > kScheme.size() &&
      equals_but_case(target.substr(0, kScheme.size()), kScheme)) {
    target.remove_prefix(kScheme.size());
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    request.host = target.substr(0, end);
    target.remove_prefix(end);
    if (!target.starts_with('/')) request.path = "/";
  } else if (!target.starts_with('/') && target != "*") {
    return "the target is no path";
  }
  request.path += target.substr(0, target.find('?'));
  return nullptr;
}

const char* take_first_line(HttpRequest& request, std::string& version, std::string_view line) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return "its first line is none of HTTP";
  request.method = line.substr(0, first);
  version = line.substr(last + 1);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!is_token(request.method) || target.empty() || target.find(' ') != std::string_view::npos) {
    return "its first line is none of HTTP";
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return "only HTTP/1.0 and 1.1 are spoken here";
  return take_target(request, target);
}

// Reads the headers of a request.
struct Headers {
  std::optional<std::string> host;
  std::string accept, origin, fetch_site;
};

const char* take_header(Headers& headers, std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return "a header has no name";
  }
  const std::string_view name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
  if (equals_but_case(name, "host")) {
    if (headers.host) return "it has two headers Host";
    if (value.empty()) return "its header Host is empty";
    headers.host = value;
  } else if (equals_but_case(name, "accept")) {
    headers.accept += headers.accept.empty() ? "" : ",";
    headers.accept += value;
  } else if (equals_but_case(name, "origin")) {
    headers.origin = value;
  } else if (equals_but_case(name, "sec-fetch-site")) {
    headers.fetch_site = value;
  }
  return nullptr;
}

ParsedRequest bad(const char* why) { return {.state = State::bad, .request = {}, .why = why}; }

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Internal Server Error";
  }
}

}  // namespace

ParsedRequest parse_request(std::string_view bytes) {
  // Clients may send an empty line first (RFC 9112, 2.2).
  if (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  if (has_control_character(head_of(bytes))) return bad("it has characters that no request has");
  HttpRequest request;
  std::string version;
  auto line = next_line(bytes);
  if (!line) return {};
  if (const char* why = take_first_line(request, version, *line)) return bad(why);
  Headers headers;
  for (line = next_line(bytes); line && !line->empty(); line = next_line(bytes)) {
    if (const char* why = take_header(headers, *line)) return bad(why);
  }
  if (!line) return {};
  if (!headers.host && version == "HTTP/1.1") return bad("it has no header Host");
  if (request.host.empty()) request.host = headers.host.value_or("");
  request.accept = headers.accept;
  request.origin = headers.origin;
  request.fetch_site = headers.fetch_site;
  return {.state = State::complete, .request = request, .why = {}};
}

bool names_loopback(std::string_view host, std::uint16_t port) {
  const std::string ending = fmt::format(":{}", port);
  if (host.ends_with(ending)) {
    host.remove_suffix(ending.size());
  } else if (port != kUsualPort) {
    return false;
  }
  return equals_but_case(host, "localhost") || host == "127.0.0.1" || host == "[::1]";
}

bool is_from_another_origin(const HttpRequest& request) {
  const bool is_other_site = !request.fetch_site.empty() && request.fetch_site != "none" &&
                             request.fetch_site != "same-origin";
  const bool is_other_origin =
      !request.origin.empty() && request.origin != fmt::format("{}{}", kScheme, request.host);
  return is_other_site || is_other_origin;
}

HttpAnswer plain_answer(int status, std::string_view text) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = fmt::format("{}\n", text);
  return answer;
}

std::string answer_text(const HttpAnswer& answer, bool with_body) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
      "Referrer-Policy: no-referrer\r\nContent-Security-Policy: {}\r\n{}\r\n",
      answer.status, reason_of(answer.status), answer.content_type, answer.body.size(),
      answer.policy, answer.more_head);
  if (with_body) text += answer.body;
  return text;
}

}  // namespace uctrace::serving
