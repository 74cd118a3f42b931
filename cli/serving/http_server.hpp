// A small HTTP server for local use: one thread, few connections, short requests, GET and HEAD. No
// client can block it: each has little time, and is dropped if there are many.
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
  std::string address;     // numeric, IPv4 or IPv6
  std::uint16_t port = 0;  // 0: any that is free
};

class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  // Listens. Throws Error if it cannot.
  explicit HttpServer(const ListenAt& at);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  std::string url() const;                           // without a path
  bool is_loopback() const { return is_loopback_; }  // no other machine can reach it

  // Answers until `stop` can be read. Calls `handler` for GET and HEAD; an exception becomes status
  // 500.
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
  std::string shown_address_;  // in brackets if IPv6
  std::uint16_t port_ = 0;
  bool is_loopback_ = false;
  std::vector<HttpConnection> connections_;  // the oldest first
  Clock::time_point rests_until_{};          // accepts no more until then
};

}  // namespace uctrace::serving
