// A small server of HTTP for one machine's own eyes: one thread, few connections, short requests,
// GET and HEAD. No client can hold it up: each has little time, and gives way if there are many.
//
//   HttpServer server({.address = "127.0.0.1", .port = 0});
//   server.url();                              // "http://127.0.0.1:40123"
//   server.serve(answer, stop.descriptor());   // until that can be read
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/serving/http_connection.hpp"

namespace uctrace::serving {

struct ListenAt {
  std::string address;     // a numeric one of IPv4 or IPv6
  std::uint16_t port = 0;  // 0: any that is free
};

class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  // Listens. Throws Error where it cannot.
  explicit HttpServer(const ListenAt& at);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  std::string url() const;                           // without a path
  bool is_loopback() const { return is_loopback_; }  // no other machine can reach it

  // Answers until `stop` can be read. `handler` is asked for GET and HEAD; what it throws is an
  // answer of status 500.
  void serve(const Handler& handler, int stop);

 private:
  void find_own_port();
  std::string answer(const Handler& handler, const ParsedRequest& parsed) const;
  HttpAnswer answer_request(const Handler& handler, const HttpRequest& request) const;
  void take_connections();
  void make_room();
  int time_to_wait() const;
  void drop_late(Clock::time_point now);

  int socket_ = -1;
  std::string shown_address_;  // in brackets, of IPv6
  std::uint16_t port_ = 0;
  bool is_loopback_ = false;
  std::vector<HttpConnection> connections_;  // the oldest first
  Clock::time_point rests_until_{};          // from taking more of them
};

}  // namespace uctrace::serving
