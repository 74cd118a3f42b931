// Which format of metrics a client asks for (RFC 9110, 12.5.1: Accept). An unreadable header
// requests nothing.
#include <algorithm>
#include <optional>

#include "event-log/reader/trimmed.hpp"
#include "log-merger/live/metric_text.hpp"

namespace uctrace::live {
namespace {

constexpr int kWhole = 1000;  // qualities are thousandths

// Takes the part before `separator` from `text`.
std::string_view next_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// "0.75" -> 750; nothing if it is not a quality.
std::optional<int> quality_of(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  int quality = (text[0] - '0') * kWhole;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int weight = kWhole / 10;
  for (const char c : text.substr(std::min<std::size_t>(text.size(), 2))) {
    if (c < '0' || c > '9') return std::nullopt;
    quality += (c - '0') * weight;
    weight /= 10;
  }
  return quality <= kWhole ? std::optional(quality) : std::nullopt;
}

struct Wish {
  std::string type, version;
  int quality = kWhole;
};

std::optional<Wish> read_wish(std::string_view range) {
  Wish wish{.type = lower(next_part(range, ';')), .version = {}};
  while (!range.empty()) {
    std::string_view value = next_part(range, ';');
    const std::string name = lower(next_part(value, '='));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (name == "version") wish.version = value;
    if (name != "q") continue;
    const auto quality = quality_of(value);
    if (!quality) return std::nullopt;
    wish.quality = *quality;
  }
  return wish;
}

}  // namespace

MetricFormat metric_format_for(std::string_view accept) {
  int open = 0, plain = 0, any = 0;
  while (!accept.empty()) {
    const auto wish = read_wish(next_part(accept, ','));
    if (!wish) continue;
    // 0.0.1 was a draft; its readers support less.
    if (wish->type == "application/openmetrics-text" &&
        (wish->version.empty() || wish->version == "1.0.0")) {
      open = std::max(open, wish->quality);
    } else if (wish->type == "text/plain") {
      plain = std::max(plain, wish->quality);
    } else if (wish->type == "*/*" || wish->type == "text/*") {
      any = std::max(any, wish->quality);
    }
  }
  const int classic = plain != 0 ? plain : any;
  return open != 0 && open >= classic ? MetricFormat::open_metrics : MetricFormat::classic;
}

}  // namespace uctrace::live
