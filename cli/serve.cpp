// The verb `serve`: answers over HTTP. With --metrics, the counters of a job while it runs and
// after. Nothing in the job waits for a client.
#include <chrono>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/chosen_job.hpp"
#include "cli/serving/http_server.hpp"
#include "cli/serving/port.hpp"
#include "cli/serving/start_page.hpp"
#include "cli/serving/stop_signals.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/live/metric_families.hpp"

namespace uctrace::cli {
namespace {

using serving::HttpAnswer;
using serving::HttpRequest;

constexpr const char* kMetricsPath = "/metrics";

// The text of the metrics. The files are read on request, but many requests share one reading.
class Metrics {
 public:
  explicit Metrics(const ServeCommand& command)
      : folder_(command.folder),
        waits_(command.waits),
        most_series_(command.most_series),
        wanted_(command.job),
        jobs_(command.folder, {.job = command.job}) {
    read();
    if (!waits_) chosen_job(jobs_, folder_, wanted_);
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
      jobs_.read();
    } catch (const Error&) {
      if (!waits_) throw;  // the folder does not exist yet
    }
    families_ = live::metric_families(take_jobs());
    families_.push_back(live::unread_files_family(jobs_.unread().size()));
    families_.push_back(live::build_info_family(log::kToolVersion));
    for (auto& text : texts_) text.reset();
    read_at_ = Clock::now();
  }

  // The newest first. Jobs that are no longer shown are forgotten.
  std::vector<const live::JobCounters*> take_jobs() {
    std::vector<const live::JobCounters*> shown;
    std::map<std::string, live::JobCounters> kept;
    for (const live::Reading* reading : jobs_.jobs()) {
      const std::string key = reading->job();
      if (!wanted_.empty() && key != wanted_) continue;
      auto known = counters_.extract(key);
      live::JobCounters& job = (known.empty() ? kept.try_emplace(key, most_series_).first
                                              : kept.insert(std::move(known)).position)
                                   ->second;
      job.take(*reading);
      shown.push_back(&job);
    }
    counters_ = std::move(kept);
    return shown;
  }

  const std::filesystem::path folder_;
  const bool waits_;
  const std::size_t most_series_;
  const std::string wanted_;  // the only job that is told; empty: all
  live::LiveFolder jobs_;
  std::map<std::string, live::JobCounters> counters_;  // by key of the job
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
