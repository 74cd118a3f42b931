// The verb `serve`: what others ask for over HTTP. With --metrics, the counters of a job while it
// runs and after. Nothing in the job waits for who asks.
#include <chrono>
#include <iostream>
#include <optional>

#include "cli/serving/http_server.hpp"
#include "cli/serving/port.hpp"
#include "cli/serving/start_page.hpp"
#include "cli/serving/stop_signals.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/live/metric_families.hpp"
#include "log-merger/live/newest_job.hpp"

namespace uctrace::cli {
namespace {

using serving::HttpAnswer;
using serving::HttpRequest;

constexpr const char* kMetricsPath = "/metrics";

// The text of the metrics. The files are read when somebody asks, but not again and again for many.
class Metrics {
 public:
  explicit Metrics(const ServeCommand& command)
      : folder_(command.folder),
        waits_(command.waits),
        job_(command.folder),
        counters_(command.most_series) {
    read();
    if (counters_.has_job() || waits_) return;
    for (const std::string& line : job_.reading().unread) {
      std::cerr << "uctrace: warning: " << line << '\n';
    }
    live::refuse_without_counters(folder_);
  }

  const std::string& text(live::MetricFormat format) {
    if (Clock::now() - read_at_ >= kLeastInterval) read();
    std::optional<std::string>& text = texts_[static_cast<std::size_t>(format)];
    if (!text) text = live::metrics_text(families_, format);
    return *text;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kLeastInterval = std::chrono::milliseconds(100);

  void read() {
    try {
      job_.read();
    } catch (const Error&) {
      if (!waits_) throw;  // the folder is not there yet
    }
    counters_.take(job_.reading());
    families_ = live::metric_families(counters_);
    families_.push_back(live::build_info_family(log::kToolVersion));
    for (auto& text : texts_) text.reset();
    read_at_ = Clock::now();
  }

  const std::filesystem::path folder_;
  const bool waits_;
  live::LiveJob job_;
  live::JobCounters counters_;
  std::vector<live::MetricFamily> families_;
  std::optional<std::string> texts_[2];  // by MetricFormat
  Clock::time_point read_at_{};
};

HttpAnswer answer(Metrics& metrics, const HttpRequest& request) {
  if (request.path == "/") {
    return {.status = 200, .content_type = "text/html; charset=utf-8", .body = serving::kStartPage};
  }
  if (request.path != kMetricsPath) {
    return serving::plain_answer(404, "there is nothing here; the metrics are at /metrics");
  }
  const live::MetricFormat format = live::metric_format_for(request.accept);
  return {.status = 200,
          .content_type = std::string(live::content_type_of(format)),
          .body = metrics.text(format)};
}

void require_sense(const ServeCommand& command) {
  if (!command.metrics) {
    throw Error({.what = "serve",
                 .why = "it is not said what to serve",
                 .to_do = "give --metrics; see `uctrace help serve`"});
  }
  serving::require_port(command.port);
  if (!command.waits) require_choice(command.folder);
}

}  // namespace

int run(const ServeCommand& command) {
  require_sense(command);
  end_quietly_on_closed_pipe();
  const serving::StopSignals stop;
  Metrics metrics(command);
  serving::HttpServer server(
      {.address = command.address, .port = static_cast<std::uint16_t>(command.port)});
  if (!server.is_loopback()) {
    std::cerr << "uctrace: warning: " << server.url()
              << " can be reached from other machines: whoever does so reads the counters\n";
  }
  std::cout << server.url() << kMetricsPath << std::endl;
  server.serve([&](const HttpRequest& request) { return answer(metrics, request); },
               stop.descriptor());
  return kOk;
}

}  // namespace uctrace::cli
