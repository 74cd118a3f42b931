#include "cli/serving/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "event-log/reader/error.hpp"

namespace uctrace::serving {
namespace {

constexpr std::size_t kMostConnections = 64;
constexpr int kBacklog = 64;
// So each connection is examined once before others can replace it.
constexpr std::size_t kMostAtOnce = 16;
// After the system had no room, accept() is not tried again at once.
constexpr auto kRest = std::chrono::milliseconds(100);

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const ListenAt& at) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(at.address.c_str(), std::to_string(at.port).c_str(), &hints, &found) != 0) {
    throw Error({.what = "--address " + at.address,
                 .why = "it is no numeric address",
                 .to_do = "give one such as 127.0.0.1, ::1 or 0.0.0.0"});
  }
  return {found, freeaddrinfo};
}

bool is_loopback_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) != 0;
}

[[noreturn]] void refuse_to_listen(const std::string& where, int error) {
  const bool is_taken = error == EADDRINUSE;
  throw Error({.what = "cannot listen on " + where,
               .why = is_taken ? "another program listens there" : std::strerror(error),
               .to_do = is_taken ? "give another --port, or --port 0 for any that is free"
                                 : "give another --address or --port"});
}

}  // namespace

HttpServer::HttpServer(const ListenAt& at) {
  const Addresses address = resolve(at);
  is_loopback_ = is_loopback_address(*address->ai_addr);
  shown_address_ = address->ai_family == AF_INET6 ? "[" + at.address + "]" : at.address;
  const std::string where = fmt::format("{}:{}", shown_address_, at.port);
  socket_ = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) refuse_to_listen(where, errno);
  // A server that just ended leaves its port in a state in which it cannot be bound.
  const int on = 1;
  setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(socket_, address->ai_addr, address->ai_addrlen) != 0 || listen(socket_, kBacklog) != 0) {
    const int error = errno;
    close(socket_);
    refuse_to_listen(where, error);
  }
  find_own_port();
}

HttpServer::~HttpServer() { close(socket_); }

void HttpServer::find_own_port() {
  sockaddr_storage own{};
  socklen_t bytes = sizeof own;
  getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &bytes);
  port_ = ntohs(own.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(own).sin_port
                                         : reinterpret_cast<const sockaddr_in6&>(own).sin6_port);
}

std::string HttpServer::url() const { return fmt::format("http://{}:{}", shown_address_, port_); }

HttpAnswer HttpServer::answer_request(const Handler& handler, const HttpRequest& request) const {
  const bool is_own = names_loopback(request.host, port_) ||
                      request.host == fmt::format("{}:{}", shown_address_, port_);
  // On other addresses any name may be this machine's.
  if (is_loopback_ && !request.host.empty() && !is_own) {
    return plain_answer(403, fmt::format("this is {}, and not the host that was asked", url()));
  }
  if (request.method != "GET" && request.method != "HEAD") {
    HttpAnswer refused = plain_answer(405, "only GET and HEAD are answered here");
    refused.more_head = "Allow: GET, HEAD\r\n";
    return refused;
  }
  try {
    return handler(request);
  } catch (const std::exception& failure) {
    return plain_answer(500, failure.what());
  }
}

std::string HttpServer::answer(const Handler& handler, const ParsedRequest& parsed) const {
  if (parsed.state == ParsedRequest::State::bad) {
    return answer_text(plain_answer(400, "the request is bad: " + parsed.why), true);
  }
  return answer_text(answer_request(handler, parsed.request), parsed.request.method != "HEAD");
}

// Connections without an answer under way are dropped first.
void HttpServer::make_room() {
  if (connections_.empty()) return;
  auto oldest = std::find_if(connections_.begin(), connections_.end(),
                             [](const HttpConnection& c) { return !c.is_answering(); });
  if (oldest == connections_.end()) oldest = connections_.begin();
  connections_.erase(oldest);
}

void HttpServer::take_connections() {
  for (std::size_t i = 0; i < kMostAtOnce; ++i) {
    const int taken = accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (taken >= 0) {
      if (connections_.size() == kMostConnections) make_room();
      connections_.emplace_back(taken);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      if (connections_.empty()) rests_until_ = Clock::now() + kRest;
      make_room();
      return;
    }
  }
}

// In ms, as poll(2) takes it: -1 = never.
int HttpServer::time_to_wait() const {
  Clock::time_point next = Clock::time_point::max();
  for (const HttpConnection& connection : connections_) {
    next = std::min(next, connection.deadline());
  }
  const Clock::time_point now = Clock::now();
  if (rests_until_ > now) next = std::min(next, rests_until_);
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
  return static_cast<int>(std::max<decltype(left)>(left, 0));
}

void HttpServer::drop_late(Clock::time_point now) {
  std::erase_if(connections_, [now](const HttpConnection& connection) {
    return connection.is_over() || connection.deadline() <= now;
  });
}

void HttpServer::serve(const Handler& handler, int stop) {
  const Answering answering = [&](const ParsedRequest& parsed) { return answer(handler, parsed); };
  std::vector<pollfd> polled;
  for (;;) {
    const short accepts = rests_until_ <= Clock::now() ? POLLIN : 0;
    polled = {{.fd = stop, .events = POLLIN, .revents = 0},
              {.fd = socket_, .events = accepts, .revents = 0}};
    for (const HttpConnection& connection : connections_) {
      polled.push_back({.fd = connection.socket(), .events = connection.waits_for(), .revents = 0});
    }
    if (poll(polled.data(), polled.size(), time_to_wait()) < 0 && errno != EINTR) {
      throw Error({.what = "cannot serve", .why = std::strerror(errno), .to_do = "start it again"});
    }
    if (polled[0].revents != 0) return;
    // Making an answer may take long: clients that asked meanwhile were not late.
    const Clock::time_point asked_at = Clock::now();
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      if (polled[i + 2].revents == 0) continue;
      const Clock::time_point began = Clock::now();
      connections_[i].go_on(answering);
      // One thread answers all: the time that one answer takes is added to the others' limits.
      for (std::size_t k = 0; k < connections_.size(); ++k) {
        if (k != i) connections_[k].extend(Clock::now() - began);
      }
    }
    drop_late(asked_at);
    if (polled[1].revents != 0) take_connections();
  }
}

}  // namespace uctrace::serving
