// The text of metrics, checked against the formats and with a naive reader.
#include "log-merger/live/metric_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

namespace uctrace::live {
namespace {

constexpr std::string_view kPrometheus =
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

std::vector<MetricFamily> some_families() {
  const MetricNumber large = ~MetricNumber{0};
  return {{.name = "a_bytes",
           .type = MetricType::counter,
           .unit = "bytes",
           .help = "One \"line\",\ntwo \\.",
           .samples = {{.labels = {{"x", "1"}, {"y", "a\\b\"c\nd"}}, .value = large},
                       {.labels = {}, .value = 9007199254740993}}},
          {.name = "empty", .type = MetricType::gauge, .unit = {}, .help = "None.", .samples = {}},
          {.name = "b",
           .type = MetricType::info,
           .unit = {},
           .help = "Who.",
           .samples = {{.labels = {{"version", "1"}}, .value = 1}}},
          {.name = "c",
           .type = MetricType::histogram,
           .unit = {},
           .help = "Sizes.",
           .samples = {{.labels = {{"le", "+Inf"}}, .value = 2, .part = "_bucket"},
                       {.labels = {}, .value = 3, .part = "_sum"},
                       {.labels = {}, .value = 2, .part = "_count"}}},
          {.name = "d", .type = MetricType::gauge, .unit = {}, .help = "G.", .samples = {{{}, 0}}}};
}

TEST_CASE("OpenMetrics text: heads, escapes, whole numbers, an end") {
  CHECK(metrics_text(some_families(), MetricFormat::open_metrics) ==
        "# HELP a_bytes One \\\"line\\\",\\ntwo \\\\.\n"
        "# TYPE a_bytes counter\n"
        "# UNIT a_bytes bytes\n"
        "a_bytes_total{x=\"1\",y=\"a\\\\b\\\"c\\nd\"} 340282366920938463463374607431768211455\n"
        "a_bytes_total 9007199254740993\n"
        "# HELP b Who.\n"
        "# TYPE b info\n"
        "b_info{version=\"1\"} 1\n"
        "# HELP c Sizes.\n"
        "# TYPE c histogram\n"
        "c_bucket{le=\"+Inf\"} 2\n"
        "c_sum 3\n"
        "c_count 2\n"
        "# HELP d G.\n"
        "# TYPE d gauge\n"
        "d 0\n"
        "# EOF\n");
}

TEST_CASE("the classic format: names of samples in heads, no units, no end") {
  CHECK(metrics_text(some_families(), MetricFormat::classic) ==
        "# HELP a_bytes_total One \"line\",\\ntwo \\\\.\n"
        "# TYPE a_bytes_total counter\n"
        "a_bytes_total{x=\"1\",y=\"a\\\\b\\\"c\\nd\"} 340282366920938463463374607431768211455\n"
        "a_bytes_total 9007199254740993\n"
        "# HELP b_info Who.\n"
        "# TYPE b_info gauge\n"
        "b_info{version=\"1\"} 1\n"
        "# HELP c Sizes.\n"
        "# TYPE c histogram\n"
        "c_bucket{le=\"+Inf\"} 2\n"
        "c_sum 3\n"
        "c_count 2\n"
        "# HELP d G.\n"
        "# TYPE d gauge\n"
        "d 0\n");
  CHECK(metrics_text({}, MetricFormat::open_metrics) == "# EOF\n");
  CHECK(metrics_text({}, MetricFormat::classic).empty());
}

// What a reader makes of the first label's value.
std::string value_read_from(const std::string& text) {
  std::string value;
  for (std::size_t i = text.find("=\"") + 2; text[i] != '"'; ++i) {
    if (text[i] != '\\') {
      value += text[i];
      continue;
    }
    ++i;
    value += text[i] == 'n' ? '\n' : text[i];
  }
  return value;
}

TEST_CASE("any value of a label is read as it was, on one line") {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string value;
    for (std::size_t size = random() % 20; size > 0; --size)
      value += "\\\"\nn{}=, a\xc3\xa9"[random() % 12];
    const std::vector<MetricFamily> families = {{.name = "a",
                                                 .type = MetricType::gauge,
                                                 .unit = {},
                                                 .help = value,
                                                 .samples = {{{{"x", value}}, 7}}}};
    for (const MetricFormat format : {MetricFormat::open_metrics, MetricFormat::classic}) {
      const std::string text = metrics_text(families, format);
      const std::string line = text.substr(text.find("\na{") + 1);
      CHECK(value_read_from(line) == value);
      CHECK(std::count(text.begin(), text.end(), '\n') ==
            (format == MetricFormat::open_metrics ? 4 : 3));
    }
  }
}

TEST_CASE("which format a client asks for") {
  const auto is_open = [](std::string_view accept) {
    return metric_format_for(accept) == MetricFormat::open_metrics;
  };
  CHECK(is_open(kPrometheus));
  CHECK(is_open("application/openmetrics-text"));
  CHECK(is_open("Application/OpenMetrics-Text; Version=\"1.0.0\" ; charset=utf-8 , text/plain"));
  CHECK(is_open("text/plain;q=0.5, application/openmetrics-text;q=0.501"));
  CHECK(is_open("*/*, application/openmetrics-text"));
  for (const char* other :
       {"", "*/*", "text/*", "text/plain", "text/html,application/xhtml+xml,*/*;q=0.8",
        "application/openmetrics-text;version=0.0.1", "application/openmetrics-text;version=2.0.0",
        "application/openmetrics-text;q=0", "application/openmetrics-text;q=0.4,text/plain;q=0.5",
        "application/openmetrics-text;q=2", "application/openmetrics-text;q=", ",;,=;q", ";;;",
        "application/openmetrics-text;q=0.1111"}) {
    CAPTURE(other);
    CHECK(!is_open(other));
  }
}

}  // namespace
}  // namespace uctrace::live
