#include "cli/launching/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <system_error>

namespace uctrace::cli {
namespace {

int program_errno(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return errno;
  if (S_ISDIR(file.st_mode)) return EACCES;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

int locate(const std::string& name, std::string& path) {
  path = name;
  if (name.find('/') != std::string::npos) return program_errno(name);
  const char* list = std::getenv("PATH");
  std::istringstream folders(list != nullptr ? list : "/bin:/usr/bin");
  int error = ENOENT;
  for (std::string folder; std::getline(folders, folder, ':');) {
    path = (folder.empty() ? "." : folder) + "/" + name;
    const int here = program_errno(path);
    if (here == 0) return 0;
    if (here == EACCES) error = EACCES;
  }
  return error;
}

// False: the other end was not closed in time, or wrote more than any version text.
bool read_until(int pipe, std::chrono::steady_clock::time_point deadline, std::string& output) {
  constexpr std::size_t kLongest = 64 * 1024;
  char buffer[4096];
  while (output.size() < kLongest) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waited{.fd = pipe, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || poll(&waited, 1, static_cast<int>(left.count())) <= 0) return false;
    const ssize_t got = read(pipe, buffer, sizeof buffer);
    if (got <= 0) return got == 0;
    output.append(buffer, static_cast<std::size_t>(got));
  }
  return false;
}

}  // namespace

int find_program(const std::string& name) {
  std::string path;
  return locate(name, path);
}

std::filesystem::path resolved_program(const std::string& name) {
  std::string path;
  if (locate(name, path) != 0) return {};
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(path, error);
  return error ? std::filesystem::path() : resolved;
}

std::string output_of(const std::vector<std::string>& program, std::chrono::milliseconds limit) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return "";
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(pipe[1], STDOUT_FILENO);
    dup2(pipe[1], STDERR_FILENO);
    become_program(program);
    _exit(127);
  }
  close(pipe[1]);
  if (pid < 0) {
    close(pipe[0]);
    return "";
  }
  setpgid(pid, pid);  // in both processes, to avoid a race
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::string output;
  const bool ended = read_until(pipe[0], deadline, output);
  close(pipe[0]);
  if (!ended) kill(-pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return ended ? output : "";
}

int become_program(const std::vector<std::string>& program) {
  std::vector<char*> arguments;
  for (const std::string& word : program) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  return errno;
}

}  // namespace uctrace::cli
