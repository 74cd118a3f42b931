#include "log-merger/diff/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "log-merger/model/number_runs.hpp"

namespace uctrace::diff {
namespace {

bool is_time(Whole whole) { return whole == Whole::time || whole == Whole::message_time; }

// The divisor of a number before comparison.
double scale_of(const RunMeasures& run, Whole whole, bool same_ranks) {
  if (same_ranks) return 1;
  const bool is_part = whole == Whole::payload || whole == Whole::asked ||
                       whole == Whole::messages || whole == Whole::transfers;
  const double all = run.wholes[static_cast<std::size_t>(whole)];
  if (is_part) return all > 0 ? all / 100 : 1;
  return static_cast<double>(std::max<std::size_t>(1, run.ranks));
}

DiffUnit unit_of(Whole whole, bool same_ranks) {
  if (is_time(whole)) return DiffUnit::nanoseconds;
  if (whole == Whole::calls || same_ranks) {
    return whole == Whole::payload || whole == Whole::asked ? DiffUnit::bytes : DiffUnit::count;
  }
  return DiffUnit::percent;
}

// The bounds of the sum if every call is within the middle half of its kind.
bool overlap(const Band& a, double scale_a, const Band& b, double scale_b) {
  return a.low_ns / scale_a <= b.high_ns / scale_b && b.low_ns / scale_b <= a.high_ns / scale_a;
}

// At least half of the time is in repeated calls, or there is none.
bool tells_spread(const Band& band) { return 2 * band.repeated_ns >= band.value_ns; }

std::optional<Change::Each> each_of(const Band& band) {
  if (band.events == 0) return std::nullopt;
  const auto events = static_cast<double>(band.events);
  return Change::Each{band.low_ns / events, band.middle_ns / events, band.high_ns / events};
}

using SettingText = std::optional<std::string>;

bool is_of_ranks(const RunSetting& setting) {
  return std::any_of(setting.values.begin(), setting.values.end(),
                     [](const RunSetting::Value& value) { return !value.ranks.empty(); });
}

SettingText value_of_all(const RunSetting& setting) {
  return setting.values.empty() ? std::nullopt : setting.values.front().value;
}

// A value without ranks is that of all others.
SettingText value_of(const RunSetting& setting, std::int64_t rank) {
  SettingText of_others;
  for (const RunSetting::Value& value : setting.values) {
    if (value.ranks.empty()) of_others = value.value;
    if (std::binary_search(value.ranks.begin(), value.ranks.end(), rank)) return value.value;
  }
  return of_others;
}

// "tcp on 3, not set on 0-2".
SettingText words_of(const RunSetting& setting) {
  if (!is_of_ranks(setting)) return value_of_all(setting);
  std::string words;
  for (const RunSetting::Value& value : setting.values) {
    words += fmt::format("{}{} on {}", words.empty() ? "" : ", ", value.value.value_or("not set"),
                         value.ranks.empty() ? "the others" : number_runs(value.ranks));
  }
  return words;
}

// Among changes with the same share, these come first, in this order.
std::size_t place_of(const Change& change) {
  constexpr std::string_view kFirst[] = {"run", "all ranks", "transport", "protocol", "device"};
  const auto* const at = std::find(std::begin(kFirst), std::end(kFirst), change.subject.of);
  return static_cast<std::size_t>(at - std::begin(kFirst));
}

class Comparing {
 public:
  Comparing(const RunMeasures& a, const RunMeasures& b) : a_(a), b_(b) {
    diff_.same_ranks = a.ranks == b.ranks;
  }

  Diff diff() {
    compare_settings();
    note_differences_of_runs();
    std::set<Subject> subjects;
    for (const auto* run : {&a_, &b_}) {
      for (const auto& [subject, measured] : run->subjects) subjects.insert(subject);
    }
    for (const Subject& subject : subjects) {
      if (is_comparable(subject)) compare_one(subject);
    }
    for (auto* list : {&diff_.changes, &diff_.others}) {
      std::stable_sort(list->begin(), list->end(), [](const Change& x, const Change& y) {
        return x.share != y.share ? x.share > y.share : place_of(x) < place_of(y);
      });
    }
    return std::move(diff_);
  }

 private:
  void compare_settings() {
    std::map<std::string, std::pair<RunSetting, RunSetting>> all;
    for (const RunSetting& setting : a_.settings) all[setting.name].first = setting;
    for (const RunSetting& setting : b_.settings) all[setting.name].second = setting;
    for (const auto& [name, both] : all) {
      const auto& [a, b] = both;
      if (!is_of_ranks(a) && !is_of_ranks(b)) {
        add_setting(name, value_of_all(a), value_of_all(b), "");
      } else if (diff_.same_ranks) {
        compare_by_rank(name, a, b);
      } else {
        add_setting(name, words_of(a), words_of(b), "");
      }
    }
  }

  void add_setting(const std::string& name, const SettingText& a, const SettingText& b,
                   const std::string& ranks) {
    if (a != b) diff_.settings.push_back({name, a, b, ranks});
  }

  // One row for all ranks with the same two values.
  void compare_by_rank(const std::string& name, const RunSetting& a, const RunSetting& b) {
    std::map<std::pair<SettingText, SettingText>, std::vector<std::int64_t>> ranks;
    for (std::size_t rank = 0; rank < a_.ranks; ++rank) {
      const auto number = static_cast<std::int64_t>(rank);
      ranks[{value_of(a, number), value_of(b, number)}].push_back(number);
    }
    for (const auto& [values, of] : ranks) {
      add_setting(name, values.first, values.second, number_runs(of));
    }
  }

  void note_differences_of_runs() {
    const auto note = [&](std::string text) { diff_.notes.push_back(std::move(text)); };
    if (!diff_.same_ranks) {
      note(fmt::format(
          "{} ranks against {}: times and calls are those of a rank, bytes and messages are "
          "percent of their run; single ranks and pairs are not compared",
          a_.ranks, b_.ranks));
    } else if (!a_.has_pairs || !b_.has_pairs) {
      note("pairs of ranks are not compared: more than 65,536 exchanged something");
    }
    const auto only_one = [&](bool in_a, bool in_b, const char* what_was) {
      if (in_a == in_b) return;
      note(fmt::format("{} recorded in {} only, and not compared", what_was, in_a ? "A" : "B"));
    };
    only_one(a_.has_calls, b_.has_calls, "calls of MPI were");
    only_one(a_.has_messages, b_.has_messages, "messages were");
    only_one(a_.has_hops, b_.has_hops, "what carried messages was");
    for (const std::string& doubt : a_.doubts) note("A: " + doubt);
    for (const std::string& doubt : b_.doubts) note("B: " + doubt);
  }

  bool is_comparable(const Subject& subject) const {
    const auto of = [&](const char* what) { return subject.of == what; };
    if (of("pair")) return diff_.same_ranks && a_.has_pairs && b_.has_pairs;
    if (of("transport") || of("device")) return a_.has_hops == b_.has_hops;
    const bool is_payload = of("function") && subject.measure == "payload";
    if (of("protocol") || of("size")) return a_.has_messages == b_.has_messages;
    if (is_payload && a_.has_messages != b_.has_messages) return false;
    if (of("rank") && !diff_.same_ranks) return false;
    return of("run") || a_.has_calls == b_.has_calls;
  }

  void compare_one(const Subject& subject) {
    const auto in_a = a_.subjects.find(subject), in_b = b_.subjects.find(subject);
    static const Measured kNothing;
    const Measured& a = in_a == a_.subjects.end() ? kNothing : in_a->second;
    const Measured& b = in_b == b_.subjects.end() ? kNothing : in_b->second;
    const Whole whole = in_a == a_.subjects.end() ? b.whole : a.whole;
    const double scale_a = scale_of(a_, whole, diff_.same_ranks);
    const double scale_b = scale_of(b_, whole, diff_.same_ranks);
    Change change{subject, unit_of(whole, diff_.same_ranks), a.value / scale_a, b.value / scale_b};
    if (change.a == change.b) {
      ++diff_.equal;
      return;
    }
    const auto at = static_cast<std::size_t>(whole);
    const double all = std::max(a_.wholes[at] / scale_a, b_.wholes[at] / scale_b);
    const double difference = std::abs(change.b - change.a);
    change.share = all > 0 ? std::min(1.0, difference / all) : 1;
    if (is_time(whole)) {
      change.each_a = each_of(a.band);
      change.each_b = each_of(b.band);
    }
    change.verdict = verdict_on(change, whole, a.band, b.band, scale_a, scale_b);
    (change.verdict == ChangeVerdict::change ? diff_.changes : diff_.others)
        .push_back(std::move(change));
  }

  static ChangeVerdict verdict_on(const Change& change, Whole whole, const Band& a, const Band& b,
                                  double scale_a, double scale_b) {
    if (change.share < kSmallShare) return ChangeVerdict::small;
    if (!is_time(whole)) {
      const double difference = std::abs(change.b - change.a);
      return difference < kSmallShare * std::max(change.a, change.b) ? ChangeVerdict::small
                                                                     : ChangeVerdict::change;
    }
    if (!tells_spread(a) || !tells_spread(b)) return ChangeVerdict::not_told;
    return overlap(a, scale_a, b, scale_b) ? ChangeVerdict::noise : ChangeVerdict::change;
  }

  const RunMeasures& a_;
  const RunMeasures& b_;
  Diff diff_;
};

}  // namespace

const char* name_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::change:
      return "change";
    case ChangeVerdict::noise:
      return "noise";
    case ChangeVerdict::small:
      return "small";
    case ChangeVerdict::not_told:
      return "not_told";
  }
  return "";
}

const char* name_of(DiffUnit unit) {
  switch (unit) {
    case DiffUnit::bytes:
      return "bytes";
    case DiffUnit::nanoseconds:
      return "ns";
    case DiffUnit::count:
      return "count";
    case DiffUnit::percent:
      return "percent";
  }
  return "";
}

Diff compare(const RunMeasures& a, const RunMeasures& b) { return Comparing(a, b).diff(); }

}  // namespace uctrace::diff
