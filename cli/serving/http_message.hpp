// Requests and answers of HTTP/1.1 as text. Takes any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace uctrace::serving {

struct HttpRequest {
  std::string method;  // as it was written: "GET"
  std::string path;    // without a query: "/metrics"
  std::string host;    // whom the client means to speak to; empty: HTTP/1.0 need not say
  std::string accept;  // what all headers Accept say; empty: nothing
  // What a browser says of the page that asks (headers Origin, Sec-Fetch-Site); empty: nothing.
  std::string origin = {}, fetch_site = {};
};

// Of the bytes that have come so far.
struct ParsedRequest {
  enum class State : std::uint8_t { incomplete, bad, complete };
  State state = State::incomplete;
  HttpRequest request;  // of a complete one
  std::string why;      // a bad one is, for who sent it
};

// Reads the head of a request; what follows it is not looked at. A head that is bad is told as soon
// as it can be known.
ParsedRequest parse_request(std::string_view bytes);

// Whether `host`, of a request, is this machine's own name for itself at this port. A page of the
// web may have its name resolve to 127.0.0.1 and then read what is served there, but its browser
// still says the name of the page here.
bool names_loopback(std::string_view host, std::uint16_t port);

// Whether a browser asks for a page of another origin than this one. Who types the address, or
// follows a link of this one's own pages, asks for none; nor does what is no browser.
bool is_from_another_origin(const HttpRequest& request);

// What a browser may load or run of an answer (Content-Security-Policy).
inline constexpr const char* kNothingAllowed = "default-src 'none'";

struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string more_head = {};  // further lines, each with "\r\n"
  std::string policy = kNothingAllowed;
};

HttpAnswer plain_answer(int status, std::string_view text);

// With the body, or without it as for HEAD. The connection is closed behind it.
std::string answer_text(const HttpAnswer& answer, bool with_body);

}  // namespace uctrace::serving
