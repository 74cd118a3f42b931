#include "settings.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "face.hpp"

namespace virtual_gpu {

namespace {

constexpr int kMostGpus = 16;

int number_in(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

std::vector<std::string> split(const char* text, char separator) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

std::string text_of(const CUuuid& uuid) {
  std::string text;
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    char byte[4];
    std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(byte);
  }
  return text;
}

// The position of what an entry of the variable names: an ordinal, or the beginning of
// GPU-UUID or MIG-UUID.
int find_named(const std::vector<VisibleGpu>& gpus, const std::string& name) {
  if (name.starts_with("GPU-") || name.starts_with("MIG-")) {
    const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const VisibleGpu& gpu) {
      return text_of(uuid_of(gpu)).starts_with(name.substr(4));
    });
    return found != gpus.end() ? static_cast<int>(found - gpus.begin()) : -1;
  }
  char* end;
  const long ordinal = std::strtol(name.c_str(), &end, 10);
  const bool known =
      end != name.c_str() && ordinal >= 0 && ordinal < static_cast<long>(gpus.size());
  return known ? static_cast<int>(ordinal) : -1;
}

// As the driver does: what follows the first one that does not exist is not there.
std::vector<VisibleGpu> visible_of(const std::vector<VisibleGpu>& gpus) {
  const char* wanted = std::getenv(kFace.visible_variable);
  if (wanted == nullptr) return gpus;
  std::vector<VisibleGpu> visible;
  for (const std::string& name : split(wanted, ',')) {
    const int at = find_named(gpus, name);
    if (at < 0) break;
    visible.push_back(gpus[static_cast<std::size_t>(at)]);
  }
  return visible;
}

Settings read_settings() {
  Settings read;
  read.machine_gpus = std::clamp(number_in("VIRTUAL_GPU_COUNT", read.machine_gpus), 0, kMostGpus);
  read.nvlinks = number_in("VIRTUAL_GPU_NVLINKS", read.nvlinks);
  read.polls = number_in("VIRTUAL_GPU_POLLS", read.polls);
  read.tells_less = number_in("VIRTUAL_GPU_TELLS_LESS", 0) != 0;
  read.readable = number_in("VIRTUAL_GPU_READABLE", 0) != 0;
  const int instances = read.instances = number_in("VIRTUAL_GPU_MIG", 0);
  std::vector<VisibleGpu> gpus;
  for (int number = 0; number < read.machine_gpus; ++number) {
    if (instances == 0) gpus.push_back({number, -1});
    for (int instance = 0; instance < instances; ++instance) gpus.push_back({number, instance});
  }
  read.gpus = visible_of(gpus);
  return read;
}

// "cuMemAlloc_v2#3=2": the third call has the result 2; without #N all calls have it.
struct Failure {
  std::string function;
  unsigned call;  // 0: all
  int result;
};

std::vector<Failure> read_failures() {
  std::vector<Failure> failures;
  const char* text = std::getenv("VIRTUAL_GPU_FAIL");
  for (const std::string& entry : split(text != nullptr ? text : "", ',')) {
    const std::size_t equals = entry.find('='), mark = entry.find('#');
    if (equals == std::string::npos) {
      std::fprintf(stderr, "VIRTUAL_GPU_FAIL: %s is not FUNCTION[#CALL]=RESULT\n", entry.c_str());
      std::abort();
    }
    const bool numbered = mark < equals;
    failures.push_back(
        {.function = entry.substr(0, numbered ? mark : equals),
         .call = numbered ? static_cast<unsigned>(std::atoi(entry.c_str() + mark + 1)) : 0,
         .result = static_cast<int>(std::strtol(entry.c_str() + equals + 1, nullptr, 0))});
  }
  return failures;
}

int open_trace() {
  const char* file = std::getenv("VIRTUAL_GPU_TRACE");
  return file != nullptr ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
}

}  // namespace

const Settings& settings() {
  static const Settings& read = *new Settings(read_settings());
  return read;
}

int injected_failure(const char* function) {
  static const auto& failures = *new std::vector<Failure>(read_failures());
  static auto& calls = *new std::map<std::string, unsigned>();
  if (failures.empty()) return 0;
  const unsigned call = ++calls[function];
  for (const Failure& failure : failures) {
    if (failure.function == function && (failure.call == 0 || failure.call == call)) {
      return failure.result;
    }
  }
  return 0;
}

void trace(const char* function, int result) {
  static const int file = open_trace();
  if (file < 0) return;
  char line[128];
  const int length = std::snprintf(line, sizeof line, "%d %s %d\n", getpid(), function, result);
  if (write(file, line, static_cast<std::size_t>(length)) != length) std::abort();
}

CUuuid uuid_of(VisibleGpu gpu) {
  char name[300]{};
  gethostname(name, 256);
  std::snprintf(name + std::strlen(name), 32, "%s/%d/%d", kFace.kind, gpu.number, gpu.instance);
  CUuuid uuid;
  for (std::size_t half = 0; half < 2; ++half) {
    std::uint64_t hash = 0xcbf29ce484222325 + half;
    for (const char* c = name; *c != '\0'; ++c) {
      hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3;
    }
    hash ^= hash >> 29;
    std::memcpy(uuid.bytes + 8 * half, &hash, sizeof hash);
  }
  return uuid;
}

int bus_of(VisibleGpu gpu) {
  constexpr int kFirst = 0x10;  // and each GPU has one of its own
  return kFirst * (gpu.number + 1) + kFace.slot;
}

}  // namespace virtual_gpu
