// Requests of HTTP as clients, and others, send them.
#include "cli/serving/http_message.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

namespace uctrace::serving {
namespace {

using State = ParsedRequest::State;

const std::string kScrape =
    "GET /metrics?name=a HTTP/1.1\r\nHost: 127.0.0.1:29464\r\nUser-Agent: Prometheus/2.42.0\r\n"
    "accept: application/openmetrics-text;version=1.0.0\r\nACCEPT:  */*;q=0.1 \t\r\n\r\n";

std::string get(const std::string& more) { return "GET / HTTP/1.1\r\n" + more + "\r\n"; }

TEST_CASE("a request is read, and is incomplete until its last byte") {
  const ParsedRequest parsed = parse_request(kScrape);
  REQUIRE(parsed.state == State::complete);
  CHECK(parsed.request.method == "GET");
  CHECK(parsed.request.path == "/metrics");
  CHECK(parsed.request.host == "127.0.0.1:29464");
  CHECK(parsed.request.accept == "application/openmetrics-text;version=1.0.0,*/*;q=0.1");
  for (std::size_t bytes = 0; bytes < kScrape.size(); ++bytes) {
    CHECK(parse_request(kScrape.substr(0, bytes)).state == State::incomplete);
  }
  CHECK(parse_request(kScrape + std::string(3, '\0')).state == State::complete);
}

TEST_CASE("other ways to ask") {
  CHECK(parse_request("\r\nHEAD / HTTP/1.0\n\n").request.method == "HEAD");
  CHECK(parse_request("GET / HTTP/1.0\r\n\r\n").state == State::complete);
  const HttpRequest whole =
      parse_request("GET http://rebound.example:29464?x HTTP/1.1\r\nHost: localhost:29464\r\n\r\n")
          .request;
  CHECK(whole.host == "rebound.example:29464");
  CHECK(parse_request("GET HTTP://localhost:1/metrics HTTP/1.1\r\nHost: a\r\n\r\n").request.path ==
        "/metrics");
  CHECK(parse_request("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").request.path == "*");
}

TEST_CASE("what is no request is told as soon as it can be known") {
  for (const char* start : {"hello\n", "GET /\n", "GET  HTTP/1.1\n", "GET / HTTP/2.0\r\n",
                            "GET / x HTTP/1.1\n", "G(T / HTTP/1.1\n", "GET metrics HTTP/1.1\r\n",
                            "\x16\x03\x01", "\n", " / HTTP/1.1\n", "PRI * HTTP/2.0\r\n"}) {
    CAPTURE(start);
    CHECK(parse_request(start).state == State::bad);
  }
  for (const char* headers :
       {"Host: a\r\nHost: a\r\n", "Host : a\r\n", "Host: a\r\n folded\r\n", ": a\r\n", "Host\r\n",
        "", "Host:\r\n", "Host: a\x01\r\n", "Host: a\x7f\r\n"}) {
    CAPTURE(headers);
    CHECK(parse_request(get(headers)).state == State::bad);
  }
  CHECK(parse_request(std::string("GET / HTTP/1.1\r\nHost: a\0\r\n", 26)).state == State::bad);
}

TEST_CASE("any bytes: more of them change nothing once it is known what they are") {
  std::mt19937 random(11);
  const auto any = [&](std::size_t most) { return random() % most; };
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = kScrape;
    for (std::size_t changes = 1 + any(6); changes > 0; --changes) {
      const std::size_t at = any(bytes.size());
      switch (any(4)) {
        case 0:
          bytes[at] = static_cast<char>(any(256));
          break;
        case 1:
          bytes.erase(at, 1 + any(8));
          break;
        case 2:
          bytes.insert(at, 1, "\r\n :\0/"[any(6)]);
          break;
        default:
          bytes.insert(any(bytes.size()), bytes.substr(at, any(12)));
      }
      if (bytes.empty()) bytes = "\n";
    }
    State before = State::incomplete;
    HttpRequest request;
    for (std::size_t count = 0; count <= bytes.size(); ++count) {
      const ParsedRequest parsed = parse_request(bytes.substr(0, count));
      if (before != State::incomplete) {
        REQUIRE(parsed.state == before);
        REQUIRE(parsed.request.path == request.path);
        REQUIRE(parsed.request.host == request.host);
      }
      REQUIRE((parsed.state == State::bad) == !parsed.why.empty());
      before = parsed.state;
      request = parsed.request;
    }
  }
}

TEST_CASE("names of this machine for itself, at its own port") {
  for (const char* host :
       {"localhost:29464", "LocalHost:29464", "127.0.0.1:29464", "[::1]:29464"}) {
    CAPTURE(host);
    CHECK(names_loopback(host, 29464));
    CHECK(!names_loopback(host, 9464));
  }
  for (const char* host :
       {"", "localhost", "rebound.example:29464", "localhost.rebound.example:29464",
        "rebound-localhost:29464", ":29464", "127.0.0.1:294640", "127.0.0.1:29464:29464",
        "user@127.0.0.1:29464", "127.0.0.2:29464", "::1:29464", "localhost :29464",
        "localhost.:29464"}) {
    CAPTURE(host);
    CHECK(!names_loopback(host, 29464));
  }
  CHECK(names_loopback("localhost", 80));
  CHECK(names_loopback("localhost:80", 80));
}

TEST_CASE("an answer says how long it is, and HEAD gets no body") {
  const HttpAnswer answer = plain_answer(404, "nothing");
  const std::string whole = answer_text(answer, true), head = answer_text(answer, false);
  CHECK(whole == head + "nothing\n");
  CHECK(head.starts_with("HTTP/1.1 404 Not Found\r\n"));
  CHECK(head.find("\r\nContent-Length: 8\r\n") != std::string::npos);
  CHECK(head.ends_with("\r\n\r\n"));
}

TEST_CASE("a page of another origin is told from this one's, and from what is no page") {
  const auto request = [](const std::string& headers) {
    return parse_request("GET / HTTP/1.1\r\nHost: 127.0.0.1:8123\r\n" + headers + "\r\n").request;
  };
  for (const char* own : {"", "Sec-Fetch-Site: none\r\n", "Sec-Fetch-Site: same-origin\r\n",
                          "Origin: http://127.0.0.1:8123\r\n"}) {
    CAPTURE(own);
    CHECK(!is_from_another_origin(request(own)));
  }
  for (const char* other :
       {"Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n",
        "Origin: http://example.com\r\n", "Origin: null\r\n", "Origin: http://127.0.0.1:81\r\n",
        "Sec-Fetch-Site: none\r\nOrigin: https://127.0.0.1:8123\r\n"}) {
    CAPTURE(other);
    CHECK(is_from_another_origin(request(other)));
  }
}

}  // namespace
}  // namespace uctrace::serving
