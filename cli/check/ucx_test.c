// The trial of `uctrace check`: two processes that exchange tag messages through one UCX.
//
//     uctrace-ucx-test LIBUCP
//
// UCX is opened at run time: one build serves whatever UCX a job would use. Results go to standard
// output, one fact per line; the last line is "done". Functions are looked up in the global scope,
// where the preload library comes before UCX, as for a linked program.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

static const size_t kSizes[] = {0, 8, 4000, 20000, 300000, 1048576};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes };

// The functions used, under their own names.
#define FUNCTIONS(X)                                                                          \
  X(ucp_get_version)                                                                          \
  X(ucp_config_read)                                                                          \
  X(ucp_config_print)                                                                         \
  X(ucp_config_release)                                                                       \
  X(ucp_init_version) X(ucp_cleanup) X(ucp_context_print_info) X(ucp_worker_create)           \
      X(ucp_worker_destroy) X(ucp_worker_get_address) X(ucp_worker_release_address)           \
          X(ucp_worker_progress) X(ucp_worker_flush_nbx) X(ucp_ep_create) X(ucp_ep_close_nbx) \
              X(ucp_tag_send_nbx) X(ucp_tag_recv_nbx) X(ucp_request_check_status)             \
                  X(ucp_request_free)
#define DECLARE(name) static __typeof__(&name) f_##name;
FUNCTIONS(DECLARE)
static __typeof__(&ucs_status_string) f_ucs_status_string;

struct side {
  int number, channel;
  ucp_context_h context;
  ucp_worker_h worker;
  ucp_ep_h other;
};

static void fail(const char* what, const char* why) {
  printf("error %s: %s\n", what, why);
  fflush(stdout);
  _exit(1);
}

static void check_ucs(ucs_status_t status, const char* what) {
  if (status != UCS_OK) fail(what, f_ucs_status_string(status));
}

static void* find(const char* name) {
  void* function = dlsym(RTLD_DEFAULT, name);
  if (function == NULL) fail(name, "this UCX has no such function");
  return function;
}

static void say_library(const char* kind, void* handle, const char* function) {
  Dl_info info;
  void* at = dlsym(handle, function);
  if (at != NULL && dladdr(at, &info) != 0) printf("library %s %s\n", kind, info.dli_fname);
}

static void open_ucx(const char* path) {
  void* ucp = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (ucp == NULL) fail("open", dlerror());
#define FIND(name) f_##name = (__typeof__(f_##name))find(#name);
  FUNCTIONS(FIND)
  f_ucs_status_string = (__typeof__(f_ucs_status_string))find("ucs_status_string");
  say_library("ucp", ucp, "ucp_init_version");
  say_library("uct", ucp, "uct_iface_open");
  say_library("ucs", ucp, "ucs_status_string");
}

static void say_facts(ucp_config_t* config) {
  unsigned major, minor, release;
  f_ucp_get_version(&major, &minor, &release);
  printf("version %u.%u.%u\n", major, minor, release);
  fflush(stdout);
  f_ucp_config_print(config, stdout, NULL, UCS_CONFIG_PRINT_CONFIG);
  fflush(stdout);
}

static unsigned char* make_buffer(size_t bytes) {
  unsigned char* buffer = malloc(bytes + 1);
  if (buffer == NULL) fail("malloc", strerror(errno));
  return buffer;
}

static void write_all(int channel, const void* data, size_t bytes) {
  if (write(channel, data, bytes) != (ssize_t)bytes) fail("write", strerror(errno));
}

static void read_all(int channel, void* data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t got = read(channel, (char*)data + done, bytes - done);
    if (got <= 0) fail("read", "the other process ended");
    done += (size_t)got;
  }
}

static void open_side(struct side* side, const char* library) {
  open_ucx(library);
  ucp_config_t* config;
  check_ucs(f_ucp_config_read(NULL, NULL, &config), "ucp_config_read");
  if (side->number == 0) say_facts(config);
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  const ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                             .thread_mode = UCS_THREAD_MODE_SINGLE};
  check_ucs(f_ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &side->context),
            "ucp_init");
  f_ucp_config_release(config);
  if (side->number == 0) f_ucp_context_print_info(side->context, stdout);
  check_ucs(f_ucp_worker_create(side->context, &worker_params, &side->worker), "ucp_worker_create");

  ucp_address_t* own;
  size_t own_bytes, other_bytes;
  check_ucs(f_ucp_worker_get_address(side->worker, &own, &own_bytes), "ucp_worker_get_address");
  write_all(side->channel, &own_bytes, sizeof own_bytes);
  write_all(side->channel, own, own_bytes);
  read_all(side->channel, &other_bytes, sizeof other_bytes);
  ucp_address_t* other = (ucp_address_t*)make_buffer(other_bytes);
  read_all(side->channel, other, other_bytes);
  const ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                     .address = other};
  check_ucs(f_ucp_ep_create(side->worker, &ep_params, &side->other), "ucp_ep_create");
  f_ucp_worker_release_address(side->worker, own);
  free(other);
}

static void finish(struct side* side, ucs_status_ptr_t request, const char* what) {
  if (request == NULL) return;
  if (UCS_PTR_IS_ERR(request)) check_ucs(UCS_PTR_STATUS(request), what);
  while (f_ucp_request_check_status(request) == UCS_INPROGRESS) {
    f_ucp_worker_progress(side->worker);
  }
  check_ucs(f_ucp_request_check_status(request), what);
  f_ucp_request_free(request);
}

static unsigned char content(int sender, size_t size, size_t i) {
  return (unsigned char)((size_t)sender * 101 + size * 31 + i * 7);
}

static void exchange(struct side* side, size_t number) {
  const ucp_request_param_t defaults = {0};
  const size_t bytes = kSizes[number];
  const ucp_tag_t mine = (ucp_tag_t)side->number << 32 | number;
  const ucp_tag_t theirs = (ucp_tag_t)!side->number << 32 | number;
  unsigned char *sent = make_buffer(bytes), *got = make_buffer(bytes);
  for (size_t i = 0; i < bytes; ++i) sent[i] = content(side->number, bytes, i);
  ucs_status_ptr_t receive =
      f_ucp_tag_recv_nbx(side->worker, got, bytes, theirs, UINT64_MAX, &defaults);
  ucs_status_ptr_t send = f_ucp_tag_send_nbx(side->other, sent, bytes, mine, &defaults);
  finish(side, send, "ucp_tag_send_nbx");
  finish(side, receive, "ucp_tag_recv_nbx");
  for (size_t i = 0; i < bytes; ++i) {
    if (got[i] != content(!side->number, bytes, i)) fail("exchange", "wrong content arrived");
  }
  free(sent);
  free(got);
}

// Nobody leaves before the other has everything: until then both make progress.
static void close_side(struct side* side) {
  const ucp_request_param_t defaults = {0};
  char done = 1;
  finish(side, f_ucp_worker_flush_nbx(side->worker, &defaults), "ucp_worker_flush_nbx");
  write_all(side->channel, &done, 1);
  ssize_t got;
  while ((got = recv(side->channel, &done, 1, MSG_DONTWAIT)) != 1) {
    if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) fail("end", "the other ended");
    f_ucp_worker_progress(side->worker);
  }
  finish(side, f_ucp_ep_close_nbx(side->other, &defaults), "ucp_ep_close_nbx");
  f_ucp_worker_destroy(side->worker);
  f_ucp_cleanup(side->context);
}

int main(int argc, char** argv) {
  int channel[2];
  if (argc != 2) fail("usage", "uctrace-ucx-test LIBUCP");
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, channel) != 0) fail("socketpair", strerror(errno));
  fflush(stdout);
  const pid_t child = fork();  // before any use of UCX
  if (child < 0) fail("fork", strerror(errno));
  if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct side side = {.number = child == 0, .channel = channel[child == 0]};
  close(channel[child != 0]);
  open_side(&side, argv[1]);
  for (size_t i = 0; i < kSizeCount; ++i) exchange(&side, i);
  close_side(&side);
  if (child == 0) return 0;
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) fail("exchange", "the other side failed");
  printf("sent %d\ndone\n", 2 * (int)kSizeCount);
  return 0;
}
