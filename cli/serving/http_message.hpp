// Requests and answers of HTTP/1.1 as text. Accepts any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace uctrace::serving {

struct HttpRequest {
  std::string method;  // as it was written: "GET"
  std::string path;    // without a query: "/metrics"
  std::string host;    // the server name of the client; empty: optional in HTTP/1.0
  std::string accept;  // all Accept headers; empty: none
  // The browser's headers about the asking page (Origin, Sec-Fetch-Site); empty: none.
  std::string origin = {}, fetch_site = {};
};

// The state of the bytes received so far.
struct ParsedRequest {
  enum class State : std::uint8_t { incomplete, bad, complete };
  State state = State::incomplete;
  HttpRequest request;  // of a complete one
  std::string why;      // it is bad, for the client
};

// Reads the head of a request and ignores the rest. Reports a bad head as early as possible.
ParsedRequest parse_request(std::string_view bytes);

// Whether a request's `host` is a loopback name with this port. A web page can let its own name
// resolve to 127.0.0.1 and then read from this server, but the browser still sends the page's name
// here.
bool names_loopback(std::string_view host, std::uint16_t port);

// Whether a browser sends this on behalf of a page of another origin. That is not so for a typed
// address, a link on our own pages, or a client that is not a browser.
bool is_from_another_origin(const HttpRequest& request);

// What a browser may load or run from an answer (Content-Security-Policy).
inline constexpr const char* kNothingAllowed = "default-src 'none'";

struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string more_head = {};  // further lines, each with "\r\n"
  std::string policy = kNothingAllowed;
};

HttpAnswer plain_answer(int status, std::string_view text);

// With the body, or without it for HEAD. The connection is closed afterwards.
std::string answer_text(const HttpAnswer& answer, bool with_body);

}  // namespace uctrace::serving
