// Call stacks: resolves addresses to modules and lines, and joins equal stacks of different
// processes. Each code address is looked up once, module by module, so only one module's debug
// information is in memory at a time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "event-log/reader/plain_text.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/stacks/communication_libraries.hpp"
#include "symbols/symbols.hpp"

namespace uctrace::merge {

namespace {

// Code addresses beyond this number are shown as module and offset.
constexpr std::size_t kMaxPlaces = 200'000;

// A module shared by several processes.
struct ModuleKey {
  std::string path, build_id;
  auto operator<=>(const ModuleKey&) const = default;
};

struct Place {
  std::size_t module = 0;    // into Resolver::modules_
  std::uint64_t offset = 0;  // of the call, in the module's file
  auto operator<=>(const Place&) const = default;
};

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

class Resolver {
 public:
  explicit Resolver(Job& job) : job_(job), run_(job.run) {}

  void resolve() {
    for (ProcessLog& log : job_.logs) find_places(log);
    look_up();
    for (ProcessLog& log : job_.logs) {
      for (const TakenStack& stack : log.stacks) {
        log.stack_rows[stack.id] = row_of(log, stack);
      }
    }
    note_problems();
  }

 private:
  TextId text(std::string_view value) { return run_.texts.intern(plain_text(value)); }

  // The module of an address when the stack was taken.
  static const Module* module_at(const ProcessLog& log, std::uint64_t address, std::uint64_t tick) {
    const Module* found = nullptr;
    for (const Module& module : log.modules) {
      if (address < module.begin || address >= module.end) continue;
      if (module.tick > tick && found != nullptr) break;
      found = &module;
      if (module.tick > tick) break;
    }
    return found;
  }

  // The call is before the return address.
  Place place_of(const ProcessLog& log, const TakenStack& stack, std::uint64_t address) {
    const std::uint64_t call = address - 1;
    const Module* module = module_at(log, call, stack.tick);
    ModuleKey key;
    if (module != nullptr) {
      key = {module->path.empty() ? log.executable : module->path, module->build_id};
    }
    const auto [at, fresh] = module_numbers_.try_emplace(key, modules_.size());
    if (fresh) modules_.push_back(key);
    return {at->second, call - (module != nullptr ? module->bias : 0)};
  }

  void find_places(ProcessLog& log) {
    std::stable_sort(log.modules.begin(), log.modules.end(),
                     [](const Module& a, const Module& b) { return a.tick < b.tick; });
    for (const TakenStack& stack : log.stacks) {
      for (const std::uint64_t address : stack.addresses) {
        places_.try_emplace(place_of(log, stack, address));
      }
    }
  }

  // The map is ordered by module.
  void look_up() {
    std::size_t looked_up = 0;
    for (auto first = places_.begin(); first != places_.end();) {
      const std::size_t number = first->first.module;
      auto last = first;
      std::vector<std::uint64_t> offsets;
      for (; last != places_.end() && last->first.module == number; ++last) {
        offsets.push_back(last->first.offset);
      }
      const ModuleKey& module = modules_[number];
      symbols::Resolved resolved;
      looked_up += offsets.size();
      if (module.path.empty() || looked_up > kMaxPlaces) {
        resolved.at.resize(offsets.size(), {symbols::SourceFrame{}});
      } else {
        resolved = symbols::resolve({module.path, module.build_id}, offsets);
      }
      if (resolved.why) problems_.emplace(module.path, *resolved.why);
      for (std::size_t i = 0; first != last; ++first, ++i) {
        first->second = add_frames(first->first, resolved.at[i]);
      }
    }
    if (looked_up > kMaxPlaces) {
      run_.notes.push_back(fmt::format(
          "call stacks: only the first {} of {} places of code were looked up in the source",
          kMaxPlaces, looked_up));
    }
  }

  std::vector<std::uint32_t> add_frames(const Place& place, const symbols::SourceFrames& source) {
    std::vector<std::uint32_t> rows;
    for (const symbols::SourceFrame& frame : source) {
      rows.push_back(static_cast<std::uint32_t>(run_.frames.size()));
      run_.frames.push_back({.function = text(frame.function),
                             .file = text(frame.file),
                             .module = text(modules_[place.module].path),
                             .build_id = text(hex(modules_[place.module].build_id)),
                             .line = frame.line,
                             .offset = place.offset,
                             .inlined = frame.inlined});
    }
    job_.unresolved_frames += source.back().function.empty() ? 1 : 0;
    return rows;
  }

  StackIndex row_of(const ProcessLog& log, const TakenStack& taken) {
    std::vector<std::uint32_t> frames;
    for (const std::uint64_t address : taken.addresses) {
      const auto& rows = places_.at(place_of(log, taken, address));
      frames.insert(frames.end(), rows.begin(), rows.end());
    }
    const auto [at, fresh] =
        stacks_.try_emplace({frames, taken.truncated}, StackIndex(run_.stacks.size()));
    if (!fresh) return at->second;
    CallStack row;
    row.first_frame = static_cast<std::uint32_t>(run_.stack_frames.size());
    row.frames = static_cast<std::uint32_t>(frames.size());
    row.truncated = taken.truncated;
    row.call_site = call_site_among(frames);
    for (const std::uint32_t frame : frames) run_.stack_frames.push_back({frame});
    run_.stacks.push_back(row);
    return at->second;
  }

  std::int32_t call_site_among(const std::vector<std::uint32_t>& frames) {
    for (const std::uint32_t index : frames) {
      const CodeFrame& frame = run_.frames[index];
      if (!is_communication_library(run_.texts[frame.module])) return call_site(frame);
    }
    return -1;
  }

  // By file and line if known: the same source built twice is one call site.
  std::int32_t call_site(const CodeFrame& frame) {
    const auto known = frame.line != 0;
    const auto key =
        std::tuple(text(file_name(run_.texts[frame.module])), frame.function, frame.file,
                   frame.line, known ? kNoText : frame.build_id, known ? 0 : frame.offset);
    const auto [at, fresh] =
        sites_.try_emplace(key, static_cast<std::int32_t>(run_.call_sites.size()));
    if (fresh) {
      run_.call_sites.push_back({.label = text(label_of(run_, frame)),
                                 .function = frame.function,
                                 .file = frame.file,
                                 .module = frame.module,
                                 .line = frame.line});
    }
    return at->second;
  }

  // The kernel's own code in each process is in no file.
  void note_problems() {
    constexpr std::size_t kNamed = 3;
    problems_.erase("linux-vdso.so.1");
    std::size_t named = 0;
    for (const auto& [path, why] : problems_) {
      if (++named > kNamed) break;
      run_.notes.push_back(fmt::format(
          "call stacks: {}: {}; its frames are shown by their offsets in it", path, why));
    }
    if (problems_.size() > kNamed) {
      run_.notes.push_back(fmt::format("call stacks: the same of {} more programs and libraries",
                                       problems_.size() - kNamed));
    }
  }

  Job& job_;
  Run& run_;
  std::vector<ModuleKey> modules_;
  std::map<ModuleKey, std::size_t> module_numbers_;
  std::map<Place, std::vector<std::uint32_t>> places_;  // rows of Run::frames, innermost first
  std::map<std::pair<std::vector<std::uint32_t>, bool>, StackIndex> stacks_;
  std::map<std::tuple<TextId, TextId, TextId, std::uint32_t, TextId, std::uint64_t>, std::int32_t>
      sites_;
  std::map<std::string, std::string> problems_;
};

}  // namespace

void resolve_stacks(Job& job) { Resolver(job).resolve(); }

}  // namespace uctrace::merge
