#include "cli/serving/http_connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace uctrace::serving {
namespace {

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

HttpConnection::HttpConnection(int socket)
    : socket_(socket), deadline_(Clock::now() + kRequestTime) {}

HttpConnection::HttpConnection(HttpConnection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      stage_(other.stage_),
      deadline_(other.deadline_),
      request_(std::move(other.request_)),
      answer_(std::move(other.answer_)),
      sent_(other.sent_) {}

HttpConnection& HttpConnection::operator=(HttpConnection&& other) noexcept {
  std::swap(socket_, other.socket_);
  stage_ = other.stage_;
  deadline_ = other.deadline_;
  request_ = std::move(other.request_);
  answer_ = std::move(other.answer_);
  sent_ = other.sent_;
  return *this;
}

HttpConnection::~HttpConnection() {
  if (socket_ >= 0) close(socket_);
}

short HttpConnection::waits_for() const { return is_answering() ? POLLOUT : POLLIN; }

void HttpConnection::enter(Stage stage, Clock::duration time) {
  stage_ = stage;
  deadline_ = Clock::now() + time;
}

void HttpConnection::go_on(const Answering& answering) {
  if (stage_ == Stage::asking) read_request(answering);
  if (stage_ == Stage::answering) write_answer();
  if (stage_ == Stage::closing) read_rest();
}

void HttpConnection::read_request(const Answering& answering) {
  std::array<char, kMostRequestBytes> bytes;
  const ssize_t got = recv(socket_, bytes.data(), bytes.size() - request_.size(), 0);
  if (got < 0 && would_wait()) return;
  if (got <= 0) return give_up();
  request_.append(bytes.data(), static_cast<std::size_t>(got));
  const ParsedRequest parsed = parse_request(request_);
  if (parsed.state != ParsedRequest::State::incomplete) {
    answer_ = answering(parsed);
  } else if (request_.size() == kMostRequestBytes) {
    answer_ = answer_text(plain_answer(431, "the head of the request is too long"), true);
  } else {
    return;
  }
  enter(Stage::answering,
        kAnswerTime + std::chrono::seconds(answer_.size() / kLeastBytesPerSecond));
}

void HttpConnection::write_answer() {
  while (sent_ < answer_.size()) {
    const ssize_t put = send(socket_, answer_.data() + sent_, answer_.size() - sent_, MSG_NOSIGNAL);
    if (put < 0 && would_wait()) return;
    if (put <= 0) return give_up();
    sent_ += static_cast<std::size_t>(put);
  }
  // Closing while the client still sends would destroy the answer.
  shutdown(socket_, SHUT_WR);
  enter(Stage::closing, kClosingTime);
}

void HttpConnection::read_rest() {
  std::array<char, 4096> ignored;
  const ssize_t got = recv(socket_, ignored.data(), ignored.size(), 0);
  if (got == 0 || (got < 0 && !would_wait())) give_up();
}

}  // namespace uctrace::serving
