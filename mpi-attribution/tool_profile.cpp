#include "mpi-attribution/tool_profile.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "event-log/format/definitions.hpp"
#include "event-log/recorder/counter_view.hpp"

namespace uctrace::mpi {
namespace {

using log::CounterKind;
using log::CounterRow;
using Number = unsigned long long;

constexpr char kFirstLine[] = "# POINT TO POINT\n";

struct Total {
  Number messages = 0, bytes = 0;
};

class Profile {
 public:
  Profile(std::FILE* file, const CounterCopy& rows)
      : file_(file), rows_(rows), world_(log::counter_world()) {}

  // False: there is no memory.
  bool write() {
    std::fputs(kFirstLine, file_);
    lines('E', CounterKind::external, true);
    std::fputs("# OSC\n", file_);
    lines('S', CounterKind::one_sided_sent, false);
    lines('R', CounterKind::one_sided_received, false);
    std::fputs("# COLLECTIVES\n", file_);
    const bool whole = collectives();
    log::visit_counter_names(this, [](void* self, const log::CounterName& name) {
      if (name.kind == log::CounterNameKind::communicator) {
        static_cast<Profile*>(self)->communicator(name);
      }
      return true;
    });
    return whole;
  }

 private:
  void line(char letter, std::int32_t peer, const Total& total, const Number* bins) {
    std::fprintf(file_, "%c\t%d\t%d\t%llu bytes\t%llu msgs sent", letter, world_.rank, peer,
                 total.bytes, total.messages);
    for (std::size_t i = 0; bins != nullptr && i < log::kSizeBins; ++i) {
      std::fprintf(file_, "%c%llu", i == 0 ? '\t' : ',', bins[i]);
    }
    std::fputc('\n', file_);
  }

  // The rows of a peer are adjacent.
  void lines(char letter, CounterKind kind, bool with_bins) {
    for (const CounterRow* row = rows_.begin(); row != rows_.end();) {
      const std::uint64_t peer = log::subject_of(row->key);
      Total total;
      Number bins[log::kSizeBins]{};
      for (; row != rows_.end() && log::subject_of(row->key) == peer; ++row) {
        if (log::kind_of(row->key) != kind) continue;
        total.messages += row->messages;
        total.bytes += row->bytes;
        if (log::bin_of(row->key) < log::kSizeBins) bins[log::bin_of(row->key)] += row->messages;
      }
      if (total.messages == 0 || peer >= static_cast<std::uint64_t>(world_.size)) continue;
      line(letter, static_cast<std::int32_t>(peer), total, with_bins ? bins : nullptr);
    }
  }

  bool collectives() {
    const auto size = static_cast<std::size_t>(world_.size);
    auto* sums = static_cast<std::uint64_t*>(std::calloc(2 * size + 1, sizeof(std::uint64_t)));
    if (sums == nullptr) return false;
    const bool whole = add_collectives(rows_, false, sums, world_.size) &&
                       add_collectives(rows_, true, sums + size, world_.size);
    for (std::size_t i = 0; i < size; ++i) {
      if (sums[i] == 0) continue;
      line('C', static_cast<std::int32_t>(i), {sums[i], sums[size + i]}, nullptr);
    }
    std::free(sums);
    return whole;
  }

  Total total_of(CounterKind kind, std::uint32_t number) const {
    Total total;
    for (const CounterRow& row : rows_) {
      if (log::kind_of(row.key) != kind || log::subject_of(row.key) != number) continue;
      total.messages += row.messages;
      total.bytes += row.bytes;
    }
    return total;
  }

  void members(const log::CounterName& name) {
    const auto* runs = reinterpret_cast<const log::RankRun*>(&name + 1);
    bool first = true;
    for (std::size_t i = 0; i < name.words * sizeof(std::uint64_t) / sizeof *runs; ++i) {
      for (std::uint32_t k = 0; k < runs[i].count; ++k, first = false) {
        std::fprintf(file_, "%s%d", first ? "" : ",",
                     runs[i].first + static_cast<std::int32_t>(k) * runs[i].stride);
      }
    }
  }

  struct Label {
    std::uint32_t number;
    char text[130];
  };

  // The program's names may contain anything, also line ends; a line must stay one line.
  static bool find_label(void* context, const log::CounterName& name) {
    auto& label = *static_cast<Label*>(context);
    if (name.kind != log::CounterNameKind::communicator_label || name.number != label.number) {
      return true;
    }
    std::size_t length = name.words * sizeof(std::uint64_t);
    if (length > sizeof label.text - 1) length = sizeof label.text - 1;
    std::memcpy(label.text, &name + 1, length);
    label.text[length] = '\0';
    for (char& c : label.text) {
      if (c == '\t' || c == '\n' || c == '\r') c = ' ';
    }
    return true;
  }

  void communicator(const log::CounterName& name) {
    const Total sums[3] = {total_of(CounterKind::one_to_all, name.number),
                           total_of(CounterKind::all_to_one, name.number),
                           total_of(CounterKind::all_to_all, name.number)};
    if (sums[0].messages + sums[1].messages + sums[2].messages == 0) return;
    Label label{name.number, {}};
    log::visit_counter_names(&label, find_label);
    std::fprintf(file_, "D\t%s\tprocs: ", *label.text != '\0' ? label.text : "(no-name)");
    members(name);
    std::fputc('\n', file_);
    const char* const kinds[3] = {"O2A", "A2O", "A2A"};
    for (int i = 0; i < 3; ++i) {
      std::fprintf(file_, "%s\t%d\t%llu bytes\t%llu msgs sent\n", kinds[i], world_.rank,
                   sums[i].bytes, sums[i].messages);
    }
  }

  std::FILE* file_;
  const CounterCopy& rows_;
  log::CounterWorld world_;
};

// Whether the file is empty or a profile, and so may be replaced. Never writes over anything else,
// or through a link.
bool may_be_written(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (status.st_size == 0) return true;
  char begin[sizeof kFirstLine - 1];
  return pread(fd, begin, sizeof begin, 0) == static_cast<ssize_t>(sizeof begin) &&
         std::memcmp(begin, kFirstLine, sizeof begin) == 0 && ftruncate(fd, 0) == 0;
}

std::FILE* open_profile(const char* path) {
  const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (fd < 0) return nullptr;
  std::FILE* file = may_be_written(fd) ? fdopen(fd, "w") : nullptr;
  if (file == nullptr) {
    const int error = errno != 0 ? errno : EEXIST;
    close(fd);
    errno = error;
  }
  return file;
}

}  // namespace

bool write_profile(const char* prefix, const CounterCopy& rows) {
  const std::int32_t rank = log::counter_world().rank;
  char path[kVariableText + 32];
  errno = rank < 0 ? EINVAL : ENOMEM;
  if (rank < 0 || !rows.is_there()) return false;
  std::snprintf(path, sizeof path, "%s.%d.prof", prefix, rank);
  errno = 0;
  std::FILE* file = open_profile(path);
  if (file == nullptr) return false;
  errno = EIO;
  const bool whole = Profile(file, rows).write() && std::ferror(file) == 0;
  return std::fclose(file) == 0 && whole;
}

bool write_profile(int descriptor, const CounterCopy& rows) {
  std::FILE* file = descriptor == 1 ? stdout : stderr;
  const bool whole = rows.is_there() && Profile(file, rows).write();
  return std::fflush(file) == 0 && whole;
}

}  // namespace uctrace::mpi
