#include "log-merger/reports/expectations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "event-log/reader/error.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/model/transport_names.hpp"
#include "log-merger/reports/report.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/info_members.hpp"
#include "log-merger/summaries/traffic.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

constexpr const char* kExample = "as in --expect \"inter=rc,intra=sysv|posix|cma|self\"";

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw Error({.what = "--expect " + what, .why = why, .to_do = kExample});
}

// Whether both are on one host; nullopt: one left no log.
std::optional<bool> same_host(const Run& run, const Message& message) {
  if (message.src_process < 0 || message.dst_process < 0) return std::nullopt;
  const auto host = [&](std::int32_t process) {
    return run.processes[static_cast<std::size_t>(process)].host;
  };
  return host(message.src_process) == host(message.dst_process);
}

const char* pairs_name(const Expectation& expectation) {
  return expectation.within_hosts ? "intra" : "inter";
}

const char* pairs_words(const Expectation& expectation) {
  return expectation.within_hosts ? "within hosts" : "between hosts";
}

class Judge {
 public:
  Judge(const RowSource& source, const std::vector<Expectation>& expectations)
      : run_(source.run()) {
    for (const Expectation& expectation : expectations) {
      judgement_.expectations.push_back({.expectation = expectation});
    }
    using M = Message;
    using H = Hop;
    const Filter all(source, {});
    for_each_traffic(source, all, {&M::src_process, &M::dst_process, &M::bytes},
                     {&H::role, &H::transport, &H::payload_bytes},
                     [&](const Traffic& traffic) { add(traffic); });
  }

  Judgement finish() && {
    for (const auto& [key, bytes] : unexpected_) {
      const auto& [expectation, src, dst, transport] = key;
      judgement_.unexpected.push_back({expectation, src, dst, transport, bytes});
    }
    std::stable_sort(judgement_.unexpected.begin(), judgement_.unexpected.end(),
                     [](const Unexpected& a, const Unexpected& b) { return a.bytes > b.bytes; });
    add_doubts();
    for (std::size_t i = 0; i < judgement_.expectations.size(); ++i) {
      judgement_.expectations[i].outcome = outcome_of(i);
    }
    return std::move(judgement_);
  }

 private:
  void add(const Traffic& traffic) {
    messages_ += traffic.messages;
    if (traffic.bytes == 0) return;
    const auto within = same_host(run_, traffic.like);
    if (!within) {
      without_log_ += traffic.bytes;
      return;
    }
    for (std::size_t i = 0; i < judgement_.expectations.size(); ++i) {
      if (judgement_.expectations[i].expectation.within_hosts == *within) add_to(i, traffic);
    }
  }

  void add_to(std::size_t number, const Traffic& traffic) {
    Judged& judged = judgement_.expectations[number];
    const auto not_so = [&](const std::string& transport, std::uint64_t bytes) {
      unexpected_[{number, traffic.like.src_process, traffic.like.dst_process, transport}] += bytes;
    };
    std::uint64_t carried = 0;
    for (const Hop& hop : traffic.path) {
      if (hop.role != Role::data || hop.payload_bytes == 0) continue;
      carried += hop.payload_bytes;
      const std::string& transport = run_.texts[hop.transport];
      const auto& names = judged.expectation.transports;
      if (std::any_of(names.begin(), names.end(),
                      [&](const std::string& name) { return is_meant_by(transport, name); })) {
        judged.fitting_bytes += hop.payload_bytes;
      } else {
        not_so(transport, hop.payload_bytes);
      }
    }
    judged.bytes += std::max(carried, traffic.bytes);
    if (carried < traffic.bytes) not_so("", traffic.bytes - carried);
  }

  void add_doubts() {
    const ordered_json info = summaries::parsed_info(run_);
    const ordered_json& dropped =
        summaries::member(summaries::member(info, "events"), "dropped_by_kind");
    const auto count = [&](const char* kind) {
      const ordered_json& value = summaries::member(dropped, kind);
      return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
    };
    const std::uint64_t lost = count("uct") + count("ucp");
    if (lost > 0) {
      judgement_.doubts.push_back(fmt::format(
          "{} records of UCX were dropped: which way their data took is not known", lost));
    }
    if (without_log_ > 0) {
      judgement_.doubts.push_back(
          fmt::format("{} went from or to a process without a log: on which host that was is not "
                      "known",
                      format_bytes(without_log_)));
    }
    if (messages_ == 0) {
      judgement_.doubts.push_back(
          "no message was recorded: the job did not use UCX, or its layers were off");
    }
  }

  Outcome outcome_of(std::size_t number) const {
    bool unknown = false;
    for (const Unexpected& one : judgement_.unexpected) {
      if (one.expectation != number) continue;
      if (!one.transport.empty()) return Outcome::not_met;
      unknown = true;
    }
    if (unknown) return Outcome::unproven;
    return judgement_.expectations[number].bytes == 0 ? Outcome::nothing : Outcome::met;
  }

  const Run& run_;
  Judgement judgement_;
  std::map<std::tuple<std::size_t, std::int32_t, std::int32_t, std::string>, std::uint64_t>
      unexpected_;
  std::uint64_t messages_ = 0, without_log_ = 0;
};

}  // namespace

std::vector<Expectation> parse_expectations(const std::string& text) {
  std::vector<Expectation> expectations;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      refuse(text, fmt::format("'{}' does not say which pairs go by what", part));
    }
    const std::string pairs = part.substr(0, equals);
    if (pairs != "intra" && pairs != "inter") {
      refuse(text, fmt::format("'{}' are no pairs: intra are those within a host, inter those "
                               "between hosts",
                               pairs));
    }
    Expectation expectation{.within_hosts = pairs == "intra",
                            .transports = split(part.substr(equals + 1), '|')};
    for (const std::string& name : expectation.transports) {
      if (name.empty()) refuse(text, fmt::format("'{}' has an empty name of a transport", part));
    }
    for (const Expectation& other : expectations) {
      if (other.within_hosts == expectation.within_hosts) {
        refuse(text, fmt::format("{} is there twice", pairs));
      }
    }
    expectations.push_back(std::move(expectation));
  }
  return expectations;
}

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::met:
      return "met";
    case Outcome::nothing:
      return "nothing";
    case Outcome::unproven:
      return "unproven";
    case Outcome::not_met:
      return "not_met";
  }
  return "?";
}

Outcome Judgement::outcome() const {
  Outcome worst = doubts.empty() ? Outcome::met : Outcome::unproven;
  for (const Judged& judged : expectations) {
    if (judged.outcome != Outcome::nothing) worst = std::max(worst, judged.outcome);
  }
  return worst;
}

Judgement judge(const RowSource& source, const std::vector<Expectation>& expectations) {
  return Judge(source, expectations).finish();
}

Table unexpected_table(const Run& run, const Judgement& judgement) {
  const Labels labels(run);
  Table table{.key = "pairs",
              .title = "Pairs that did not do as expected",
              .columns = {{"pairs", "pairs"},
                          {"src", "source"},
                          {"dst", "destination"},
                          {"transport", "transport"},
                          {"bytes", "payload", Unit::bytes},
                          {"src_host", "source host"},
                          {"dst_host", "destination host"}},
              .rows = {}};
  const auto host = [&](std::int32_t process) {
    return run.texts[run.processes[static_cast<std::size_t>(process)].host];
  };
  const auto label = [&](std::int32_t process) {
    return labels.of_processes()[static_cast<std::size_t>(process)];
  };
  for (const Unexpected& one : judgement.unexpected) {
    table.rows.push_back(
        {std::string(pairs_name(judgement.expectations[one.expectation].expectation)),
         label(one.src_process), label(one.dst_process),
         one.transport.empty() ? Cell{} : Cell{one.transport}, one.bytes, host(one.src_process),
         host(one.dst_process)});
  }
  return table;
}

void write_judgement(std::ostream& out, const Run& run, const Judgement& judgement,
                     std::size_t limit, Colour colour, std::size_t width) {
  write_run_line(out, run);
  for (const Judged& judged : judgement.expectations) {
    const std::string by = fmt::format("{}", fmt::join(judged.expectation.transports, "|"));
    const std::string all = format_bytes(judged.bytes);
    std::string said;
    switch (judged.outcome) {
      case Outcome::met:
        said = fmt::format("all {} {} went by {}", all, pairs_words(judged.expectation), by);
        break;
      case Outcome::nothing:
        said = fmt::format("there was no payload {}", pairs_words(judged.expectation));
        break;
      case Outcome::unproven:
      case Outcome::not_met:
        said = fmt::format("{} of {} {} went by {}", format_bytes(judged.fitting_bytes), all,
                           pairs_words(judged.expectation), by);
    }
    out << fmt::format("{:<8} {}: {}\n", name_of(judged.outcome), pairs_name(judged.expectation),
                       said);
  }
  for (const std::string& doubt : judgement.doubts) out << "unproven " << doubt << '\n';
  if (judgement.unexpected.empty()) return;
  Table table = unexpected_table(run, judgement);
  table.keep_first(limit);
  out << '\n';
  write_text(out, table, colour, width);
}

ordered_json judgement_json(const Run& run, const Judgement& judgement) {
  ordered_json expectations = ordered_json::array();
  for (const Judged& judged : judgement.expectations) {
    expectations.push_back({{"pairs", pairs_name(judged.expectation)},
                            {"transports", judged.expectation.transports},
                            {"result", name_of(judged.outcome)},
                            {"bytes", judged.bytes},
                            {"fitting_bytes", judged.fitting_bytes}});
  }
  return {{"result", name_of(judgement.outcome())},
          {"expectations", std::move(expectations)},
          {"pairs", to_json(unexpected_table(run, judgement))},
          {"doubts", judgement.doubts}};
}

}  // namespace uctrace
