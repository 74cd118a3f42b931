#include "log-merger/live/metric_text.hpp"

#include <iterator>

namespace uctrace::live {
namespace {

void append_number(std::string& text, MetricNumber number) {
  char digits[40];  // 2^128 has 39
  char* first = std::end(digits);
  do {
    *--first = static_cast<char>('0' + static_cast<unsigned>(number % 10));
    number /= 10;
  } while (number != 0);
  text.append(first, std::end(digits));
}

// OpenMetrics escapes quotes everywhere, the classic format only in label values.
void append_escaped(std::string& text, std::string_view value, bool quotes) {
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
    } else {
      if (c == '\\' || (c == '"' && quotes)) text += '\\';
      text += c;
    }
  }
}

std::string_view name_of(MetricType type, MetricFormat format) {
  switch (type) {
    case MetricType::counter:
      return "counter";
    case MetricType::histogram:
      return "histogram";
    case MetricType::info:
      return format == MetricFormat::open_metrics ? "info" : "gauge";
    case MetricType::gauge:
      break;
  }
  return "gauge";
}

std::string_view suffix_of(MetricType type) {
  return type == MetricType::counter ? "_total" : type == MetricType::info ? "_info" : "";
}

// The name in the lines about a family: that of its samples in the classic format.
void append_head(std::string& text, const MetricFamily& family, MetricFormat format) {
  const bool is_open = format == MetricFormat::open_metrics;
  const std::string name = family.name + std::string(is_open ? "" : suffix_of(family.type));
  text += "# HELP " + name + ' ';
  append_escaped(text, family.help, is_open);
  text += "\n# TYPE " + name + ' ';
  text += name_of(family.type, format);
  text += '\n';
  if (is_open && !family.unit.empty()) {
    text += "# UNIT " + name + ' ';
    text += family.unit;
    text += '\n';
  }
}

void append_sample(std::string& text, const MetricFamily& family, const MetricSample& sample) {
  text += family.name;
  text += suffix_of(family.type);
  text += sample.part;
  char before = '{';
  for (const MetricLabel& label : sample.labels) {
    text += before;
    text += label.name;
    text += "=\"";
    append_escaped(text, label.value, true);
    text += '"';
    before = ',';
  }
  text += before == ',' ? "} " : " ";
  append_number(text, sample.value);
  text += '\n';
}

}  // namespace

std::string_view content_type_of(MetricFormat format) {
  return format == MetricFormat::open_metrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string metrics_text(const std::vector<MetricFamily>& families, MetricFormat format) {
  std::string text;
  for (const MetricFamily& family : families) {
    if (family.samples.empty()) continue;
    append_head(text, family, format);
    for (const MetricSample& sample : family.samples) append_sample(text, family, sample);
  }
  if (format == MetricFormat::open_metrics) text += "# EOF\n";
  return text;
}

}  // namespace uctrace::live
