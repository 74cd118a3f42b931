#include "log-merger/audit/describe_windows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "event-log/reader/plain_text.hpp"
#include "log-merger/audit/totals.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/mpi/open_calls.hpp"

namespace uctrace::merge {

namespace {

using Json = nlohmann::ordered_json;

const char* word_of(log::SwitchCause cause) {
  switch (cause) {
    case log::SwitchCause::pcontrol:
      return "pcontrol";
    case log::SwitchCause::signal:
      return "signal";
    case log::SwitchCause::start:
    case log::SwitchCause::kCount:
      break;
  }
  return "start";
}

// For a process: from its first anchor to its last.
struct Span {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t length() const { return std::max<std::int64_t>(end_ns - begin_ns, 0); }
};

Span life_of(const ProcessLog& log) {
  const std::vector<log::Anchor>& anchors = log.clock.anchors();
  return anchors.empty()
             ? Span{}
             : Span{log.clock.job_ns(anchors.front().tick), log.clock.job_ns(anchors.back().tick)};
}

Span span_of(const ProcessLog& log, const RecordingWindow& window) {
  const Span life = life_of(log);
  const std::int64_t begin = std::max(life.begin_ns, log.clock.job_ns(window.begin_tick));
  return {begin, window.end_tick == UINT64_MAX ? std::max(begin, life.end_ns)
                                               : log.clock.job_ns(window.end_tick)};
}

struct Summary {
  std::uint64_t windows = 0, on_demand = 0;   // processes
  std::int64_t recorded_ns = 0, life_ns = 0;  // over those processes
  std::set<std::string> start_on, stop_on;
  std::int64_t whole_from_ns = -1;  // of all processes, after what was overwritten
};

Summary summary_of(const Job& job) {
  Summary sum;
  for (const ProcessLog& log : job.logs) {
    if (log.recorded.on_demand) {
      ++sum.on_demand;
      sum.windows += log.recorded.windows.size();
      sum.life_ns += life_of(log).length();
      for (const RecordingWindow& window : log.recorded.windows) {
        sum.recorded_ns += span_of(log, window).length();
      }
      if (!log.start_on.empty()) sum.start_on.insert(log.start_on);
      if (!log.stop_on.empty()) sum.stop_on.insert(log.stop_on);
    }
    if (const std::uint64_t tick = log.file.window_start_tick(); tick != 0) {
      sum.whole_from_ns = std::max(sum.whole_from_ns, log.clock.job_ns(tick));
    }
  }
  return sum;
}

std::string duration(std::int64_t ns) {
  return format_duration(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// Empty if everything was recorded.
std::string sentence_of(const Job& job, const Summary& sum) {
  std::string text;
  if (sum.on_demand != 0 && sum.windows == 0) {
    text = fmt::format(
        "recording was never started: nothing met --start-on {}; counters are of the whole run",
        fmt::join(sum.start_on, ", "));
  } else if (sum.on_demand != 0) {
    text = fmt::format(
        "events were recorded in {} of {}, {} of {} ({:.1f} %): messages, calls and times are of "
        "these, counters of the whole run",
        counted(sum.windows, "window", "windows"), counted(sum.on_demand, "process", "processes"),
        duration(sum.recorded_ns), duration(sum.life_ns),
        sum.life_ns == 0
            ? 0.0
            : 100.0 * static_cast<double>(sum.recorded_ns) / static_cast<double>(sum.life_ns));
  }
  if (sum.whole_from_ns >= 0) {
    text += fmt::format(
        "{}{} gave way to newer ones (--max-log): the record is whole from {} on, counters are of "
        "the whole run",
        text.empty() ? "" : "; ", counted(total_overwritten(job), "event", "events"),
        duration(sum.whole_from_ns));
  }
  return text;
}

}  // namespace

nlohmann::ordered_json windows_json(const Job& job) {
  Json list = Json::array();
  for (const ProcessLog& log : job.logs) {
    for (const RecordingWindow& window : log.recorded.windows) {
      const Span span = span_of(log, window);
      const bool closed = window.end_tick != UINT64_MAX;
      list.push_back({{"process", plain_text(log.file.process_key())},
                      {"rank", log.rank() < 0 ? Json(nullptr) : Json(log.rank())},
                      {"begin_ns", span.begin_ns},
                      {"end_ns", closed ? Json(span.end_ns) : Json(nullptr)},
                      {"opened_by", word_of(window.opened_by)},
                      {"closed_by", closed ? Json(word_of(window.closed_by)) : Json(nullptr)}});
    }
  }
  return list;
}

nlohmann::ordered_json recording_json(const Job& job) {
  const Summary sum = summary_of(job);
  const bool on_demand = sum.on_demand != 0;
  return {{"on_demand", on_demand},
          {"start_on", or_null(fmt::format("{}", fmt::join(sum.start_on, ",")))},
          {"stop_on", or_null(fmt::format("{}", fmt::join(sum.stop_on, ",")))},
          {"recorded_ns", on_demand ? Json(sum.recorded_ns) : Json(nullptr)},
          {"of_ns", on_demand ? Json(sum.life_ns) : Json(nullptr)},
          {"whole_from_ns", sum.whole_from_ns >= 0 ? Json(sum.whole_from_ns) : Json(nullptr)},
          {"sentence", or_null(sentence_of(job, sum))}};
}

void note_recording(Job& job) {
  if (std::string sentence = sentence_of(job, summary_of(job)); !sentence.empty()) {
    job.run.notes.insert(job.run.notes.begin(), std::move(sentence));
  }
}

}  // namespace uctrace::merge
