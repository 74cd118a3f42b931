// Metrics for Prometheus and other monitoring systems: families of numbers with labels, and their
// text in two formats. Knows nothing about jobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uctrace::live {

// Sums of 64-bit words that do not wrap. Printed as whole numbers.
using MetricNumber = unsigned __int128;

enum class MetricType : std::uint8_t { counter, gauge, histogram, info };

struct MetricLabel {
  std::string_view name;  // outlives the sample
  std::string value;      // UTF-8, any
};

struct MetricSample {
  std::vector<MetricLabel> labels;
  MetricNumber value = 0;
  std::string_view part = {};  // of a histogram: "_bucket", "_count", "_sum"
};

struct MetricFamily {
  std::string name;  // without _total and _info, with its unit
  MetricType type = MetricType::gauge;
  std::string_view unit;  // "bytes", "seconds", or empty
  std::string help;
  std::vector<MetricSample> samples;
};

// open_metrics: OpenMetrics 1.0. classic: Prometheus' text format 0.0.4.
enum class MetricFormat : std::uint8_t { open_metrics, classic };

// For the head of an HTTP answer.
std::string_view content_type_of(MetricFormat format);

// The format for a client with this HTTP header `Accept`, which may be empty: OpenMetrics if the
// client names it and does not prefer the other; else the classic one.
MetricFormat metric_format_for(std::string_view accept);

// All families that have samples.
std::string metrics_text(const std::vector<MetricFamily>& families, MetricFormat format);

}  // namespace uctrace::live
