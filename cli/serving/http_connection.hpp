// One connection of a client: one request, one answer, and it ends. It never blocks, and it ends
// when its time is over, whatever the client does.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "cli/serving/http_message.hpp"

namespace uctrace::serving {

using Clock = std::chrono::steady_clock;

// The whole text of an answer.
using Answering = std::function<std::string(const ParsedRequest&)>;

inline constexpr std::size_t kMostRequestBytes = 8192;
inline constexpr auto kRequestTime = std::chrono::seconds(5);  // to receive a complete request
// To send a complete answer, plus a second for each 64 KiB: pages are large.
inline constexpr auto kAnswerTime = std::chrono::seconds(20);
inline constexpr std::size_t kLeastBytesPerSecond = 64 << 10;
inline constexpr auto kClosingTime = std::chrono::seconds(1);  // for the client to close

class HttpConnection {
 public:
  // Owns a non-blocking socket.
  explicit HttpConnection(int socket);
  HttpConnection(HttpConnection&& other) noexcept;
  HttpConnection& operator=(HttpConnection&& other) noexcept;
  ~HttpConnection();

  int socket() const { return socket_; }
  bool is_over() const { return stage_ == Stage::over; }
  bool is_answering() const { return stage_ == Stage::answering; }
  Clock::time_point deadline() const { return deadline_; }
  short waits_for() const;  // events of poll(2)

  // Its socket is ready: goes on as far as possible.
  void go_on(const Answering& answering);
  // Gives the client this much more time.
  void extend(Clock::duration time) { deadline_ += time; }
  void give_up() { stage_ = Stage::over; }

 private:
  enum class Stage : std::uint8_t { asking, answering, closing, over };

  void enter(Stage stage, Clock::duration time);
  void read_request(const Answering& answering);
  void write_answer();
  void read_rest();

  int socket_;
  Stage stage_ = Stage::asking;
  Clock::time_point deadline_;
  std::string request_, answer_;
  std::size_t sent_ = 0;
};

}  // namespace uctrace::serving
