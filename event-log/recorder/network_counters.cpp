#include "event-log/recorder/network_counters.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/recorder/futex.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/recorder_parts.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {

namespace {

constexpr std::size_t kMostCards = 64;
constexpr std::size_t kTextBytes = 192;
constexpr std::size_t kPathBytes = 512;
constexpr std::uint64_t kWaitNs = 1'000'000'000;

enum class Moment : std::uint8_t { start = 0, end = 1 };

// Passed between the program's thread and the helper: kAsked... by the one, kRead by the other.
constexpr std::uint32_t kIdle = 0, kAskedAtStart = 1, kAskedAtEnd = 2, kRead = 3;
constinit std::atomic<std::uint32_t> request{kIdle};

// The last reading; owned by the helper while a request is open, else by the asking thread.
struct Reading {
  std::uint64_t network;  // which network namespace: each has its own file system of devices
  // When: at the start after reading everything, at the end before reading anything. So the
  // counters include everything between the two times.
  std::uint64_t tick;
  std::size_t cards, left_out;
  char texts[kMostCards][kTextBytes];
};
constinit Reading reading{};
constinit char root[kPathBytes]{};
constinit std::uint32_t read_in_log = 0;  // the log that has its start counters

// The helper's own file of /proc, and what it said about filters at the start.
constinit int filters_fd = -1;
constinit char filters_at_start[64]{};

bool path_of(char (&path)[kPathBytes], const char* folder, const char* name) {
  const int n = snprintf(path, sizeof path, "%s/%s", folder, name);
  return n > 0 && static_cast<std::size_t>(n) < sizeof path;
}

// The first word of a file; "-" if there is none, because the card lacks the counter or is gone.
void read_word(const char* folder, const char* name, char (&word)[24]) {
  char path[kPathBytes];
  strcpy(word, "-");
  const int fd = path_of(path, folder, name) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  char text[sizeof word];
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return;
  text[n] = '\0';
  const std::size_t length = strspn(text, "0123456789");
  if (length == 0) return;
  text[length] = '\0';
  memcpy(word, text, length + 1);
}

// The names of four counters, in the order of a text: bytes and packets that were sent, received.
struct CounterFiles {
  const char* files[4];
};
constexpr CounterFiles kNet{{"tx_bytes", "rx_bytes", "tx_packets", "rx_packets"}};
constexpr CounterFiles kInfiniband{
    {"port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets"}};

void add_card(const char* kind, const char* name, const char* folder, const CounterFiles& of) {
  if (reading.cards == kMostCards) {
    ++reading.left_out;
    return;
  }
  char words[4][24];
  for (std::size_t i = 0; i < 4; ++i) read_word(folder, of.files[i], words[i]);
  snprintf(reading.texts[reading.cards++], kTextBytes, "%s %.64s %s %s %s %s", kind, name, words[0],
           words[1], words[2], words[3]);
}

// Calls `visit` with the name of each entry. 0, or why the folder cannot be listed.
template <typename Visit>
int each_entry(const char* folder, Visit visit) {
  struct Entry {
    std::uint64_t inode, offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
  };
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  alignas(8) char buffer[4096];
  long n = 0;
  while ((n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
      if (entry->name[0] != '.') visit(entry->name);
      at += entry->bytes;
    }
  }
  close(fd);
  return 0;
}

void add_ports(const char* card, const char* folder) {
  char ports[kPathBytes];
  if (!path_of(ports, folder, "ports")) return;
  each_entry(ports, [&](const char* port) {
    char name[96], counters[kPathBytes], below[64];
    snprintf(name, sizeof name, "%.48s:%.16s", card, port);
    snprintf(below, sizeof below, "%.32s/counters", port);
    if (path_of(counters, ports, below)) add_card("infiniband", name, counters, kInfiniband);
  });
}

void add_unlisted(const char* kind, int error) {
  if (error == 0 || reading.cards == kMostCards) return;
  snprintf(reading.texts[reading.cards++], kTextBytes, "unlisted %s %d", kind, error);
}

// InfiniBand first: a host of containers may have hundreds of network devices.
void read_cards() {
  reading.cards = reading.left_out = reading.network = 0;
  char folder[kPathBytes], card[kPathBytes];
  if (path_of(folder, root, "class/infiniband")) {
    const int error = each_entry(folder, [&](const char* name) {
      if (path_of(card, folder, name)) add_ports(name, card);
    });
    if (error != ENOENT) add_unlisted("infiniband", error);
  }
  if (path_of(folder, root, "class/net")) {
    struct stat status {};
    if (stat(folder, &status) == 0) reading.network = status.st_dev;
    const int error = each_entry(folder, [&](const char* name) {
      char below[96], statistics[kPathBytes];
      snprintf(below, sizeof below, "%.64s/statistics", name);
      if (path_of(statistics, folder, below) && access(statistics, F_OK) == 0) {
        add_card("net", name, statistics, kNet);
      }
    });
    add_unlisted("net", error);
  }
}

// The kernel's statement about system call filters on this thread. The file is open from the start:
// so this also works if a filter kills a thread that opens a file.
bool read_filters(char (&out)[sizeof filters_at_start]) {
  char text[4096];
  const ssize_t n = filters_fd >= 0 ? pread(filters_fd, text, sizeof text - 1, 0) : -1;
  if (n <= 0) return false;
  text[n] = '\0';
  const char* found = strstr(text, "\nSeccomp:");
  if (found == nullptr) return false;
  const char* more = strstr(found, "\nSeccomp_filters:");
  const char* last = more != nullptr ? more : found;
  const std::size_t length = static_cast<std::size_t>(last - found) + strcspn(last + 1, "\n") + 1;
  if (length >= sizeof out) return false;
  memcpy(out, found, length);
  out[length] = '\0';
  return true;
}

void note_filters() {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%ld/status", syscall(SYS_gettid));
  if (filters_fd >= 0) close(filters_fd);
  filters_fd = open(path, O_RDONLY | O_CLOEXEC);
  if (!read_filters(filters_at_start)) filters_at_start[0] = '\0';
}

bool may_read_again() {
  char now[sizeof filters_at_start];
  return filters_at_start[0] != '\0' && read_filters(now) && strcmp(now, filters_at_start) == 0;
}

void read_at(Moment moment) {
  reading.tick = now();
  if (moment == Moment::start) {
    note_filters();
    read_cards();
    reading.tick = now();
  } else if (may_read_again()) {
    read_cards();
  } else {
    reading.cards = 1;
    reading.left_out = 0;
    snprintf(reading.texts[0], kTextBytes, "unread sandbox 0");
  }
}

void define_reading(Moment moment) {
  const std::uint64_t id = reading.network << 1 | static_cast<std::uint64_t>(moment);
  for (std::size_t i = 0; i < reading.cards; ++i) {
    define_text_of(reading.tick, TextKind::network_card, id, reading.texts[i],
                   strlen(reading.texts[i]));
  }
  if (reading.left_out != 0) {
    char text[48];
    const int n = snprintf(text, sizeof text, "more cards %zu", reading.left_out);
    define_text_of(reading.tick, TextKind::network_card, id, text, static_cast<std::size_t>(n));
  }
}

// False: the helper is gone, or the kernel does not answer.
bool read_by_helper(std::uint32_t asked) {
  std::uint32_t idle = kIdle;
  if (!request.compare_exchange_strong(idle, asked, std::memory_order_acq_rel)) return false;
  wake_helper();
  const std::uint64_t give_up = monotonic_raw_ns() + kWaitNs;
  while (request.load(std::memory_order_acquire) == asked) {
    if (pool.helper_lives.load(std::memory_order_relaxed) == 0 || monotonic_raw_ns() > give_up) {
      return false;  // the request stays open: a later reading is not defined in the log
    }
    futex_wait(request, asked, static_cast<long>(kWaitNs / 20));
  }
  return true;
}

// If the launcher tells the local rank, the first process reads. The nearest launcher counts, as
// for the name of the job.
bool reads_for_host() {
  static constexpr const char* kVariables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                               "PALS_LOCAL_RANKID",          "FLUX_TASK_LOCAL_ID",
                                               "PMIX_LOCAL_RANKID",          "SLURM_LOCALID"};
  for (const char* variable : kVariables) {
    if (const char* number = getenv(variable)) return strcmp(number, "0") == 0;
  }
  return true;
}

void say_unread(Moment moment) {
  static constexpr char kText[] = "unread late 0";
  define_text(TextKind::network_card, static_cast<std::uint64_t>(moment), kText, sizeof kText - 1);
}

void define_network_counters(Moment moment) {
  const std::uint32_t asked = moment == Moment::start ? kAskedAtStart : kAskedAtEnd;
  if (read_by_helper(asked)) {
    define_reading(moment);
    request.store(kIdle, std::memory_order_release);
  } else {
    say_unread(moment);
  }
}

}  // namespace

void define_network_counters_at_start() {
  request.store(kIdle, std::memory_order_relaxed);  // a fork child inherits its parent's
  const char* folder = getenv("UCTRACE_SYSFS");
  const int n = snprintf(root, sizeof root, "%s", folder != nullptr ? folder : "/sys");
  if (!pool.has_helper || !reads_for_host() || static_cast<std::size_t>(n) >= sizeof root) return;
  read_in_log = log_number();
  define_network_counters(Moment::start);
}

void define_network_counters_at_end() {
  if (pool.has_helper && read_in_log == log_number() && read_in_log != 0) {
    define_network_counters(Moment::end);
  }
}

void serve_network_reading() {
  const std::uint32_t asked = request.load(std::memory_order_acquire);
  if (asked != kAskedAtStart && asked != kAskedAtEnd) return;
  read_at(asked == kAskedAtStart ? Moment::start : Moment::end);
  futex_set(request, kRead);
}

}  // namespace uctrace::log
