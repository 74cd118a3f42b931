// A server and clients that connect by socket address or by the server's worker address, through
// UCP without any MPI. Each client connects a few times, one connection after the other: it says
// hello by an active message, is answered on the reply endpoint, sends tag messages and puts,
// receives tag messages, and closes. At the end it tries an address without a listener. All
// contents are checked.
//
//     client_server [TRUTH] [--by-worker] [--listen one|any] [--clients N]

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>

#include "ucp_truth.h"

enum { kHello = 1, kWelcome, kConnections = 2, kMaxClients = 8, kRegionBytes = 65536 };
static const size_t kSizes[] = {0, 8, 4000, 20000, 300000};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes };

static int by_worker, clients = 3;
static const char* listen_on = "one";  // address, or any
static struct side self;

// What the server sends through the channels before anybody connects, and the answer to a hello.
struct invitation {
  uint16_t port;
  size_t address_bytes;
};
struct hello {
  int pid, number;
  uint16_t port;              // the client's of this connection
  char padding[kMaxClients];  // each client sends another length of it, which identifies the client
};
struct welcome {
  int pid;
  uint64_t region;
  size_t key_bytes;
  char key[256];
};

// --- both sides ----------------------------------------------------------------------------------

static ucp_tag_t tag_of(const struct hello* who, int back, size_t i) {
  return (ucp_tag_t)who->pid << 32 | (ucp_tag_t)who->number << 16 | (ucp_tag_t)back << 8 | i;
}

static unsigned char content(ucp_tag_t tag, size_t i) { return (unsigned char)(tag * 31 + i * 7); }

static void send_tagged(ucp_ep_h endpoint, ucp_tag_t tag, size_t bytes, int to) {
  const ucp_request_param_t defaults = {0};
  unsigned char* buffer = make_buffer(bytes);
  for (size_t i = 0; i < bytes; ++i) buffer[i] = content(tag, i);
  finish(&self, ucp_tag_send_nbx(endpoint, buffer, bytes, tag, &defaults), "ucp_tag_send_nbx");
  called("ucp_tag_send_nbx", "tag", to, bytes);
  free(buffer);
}

static void receive_tagged(ucp_tag_t tag, size_t bytes) {
  const ucp_request_param_t defaults = {0};
  unsigned char* buffer = make_buffer(bytes);
  finish(&self, ucp_tag_recv_nbx(self.worker, buffer, bytes, tag, UINT64_MAX, &defaults),
         "ucp_tag_recv_nbx");
  for (size_t i = 0; i < bytes; ++i) check(buffer[i] == content(tag, i), "comparing contents");
  free(buffer);
}

static void send_active(ucp_ep_h endpoint, unsigned id, const void* header, size_t bytes, int to) {
  const ucp_request_param_t with_reply = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                          .flags = UCP_AM_SEND_FLAG_REPLY};
  finish(&self, ucp_am_send_nbx(endpoint, id, header, bytes, NULL, 0, &with_reply),
         "ucp_am_send_nbx");
  called("ucp_am_send_nbx", "am", to, bytes);
}

static void handle(unsigned id, ucp_am_recv_callback_t handler) {
  const ucp_am_handler_param_t param = {
      .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
      .id = id,
      .cb = handler};
  check_ucs(ucp_worker_set_am_recv_handler(self.worker, &param), "ucp_worker_set_am_recv_handler");
}

static void open_worker(void) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                               .features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA};
  const ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                             .thread_mode = UCS_THREAD_MODE_SINGLE};
  check_ucs(ucp_init(&params, NULL, &self.context), "ucp_init");
  check_ucs(ucp_worker_create(self.context, &worker_params, &self.worker), "ucp_worker_create");
}

static void close_worker(void) {
  ucp_worker_destroy(self.worker);
  ucp_cleanup(self.context);
}

static struct sockaddr_in loopback(uint16_t port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static uint16_t port_of(const struct sockaddr_storage* address) {
  return ntohs(((const struct sockaddr_in*)address)->sin_port);
}

static void close_by(ucp_ep_h endpoint, uint32_t flags) {
  const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags};
  ucs_status_ptr_t request = ucp_ep_close_nbx(endpoint, &param);
  if (!UCS_PTR_IS_PTR(request)) return;
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(self.worker);
  ucp_request_free(request);
}

// --- server --------------------------------------------------------------------------------------

// A client's connection: its endpoint, and its identity after the hello.
struct connection {
  ucp_ep_h endpoint, reply;
  uint16_t port;
  int closed;
};
static struct connection accepted[kMaxClients * kConnections];
static struct hello hellos[kMaxClients * kConnections];
static ucp_ep_h replies[kMaxClients * kConnections];
static size_t accepted_count, hello_count;

static void on_closed(void* argument, ucp_ep_h endpoint, ucs_status_t status) {
  (void)endpoint, (void)status;
  ((struct connection*)argument)->closed = 1;
}

static void on_connection(ucp_conn_request_h request, void* argument) {
  (void)argument;
  ucp_conn_request_attr_t attributes = {.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR};
  check_ucs(ucp_conn_request_query(request, &attributes), "ucp_conn_request_query");
  struct connection* connection = &accepted[accepted_count++];
  connection->port = port_of(&attributes.client_address);
  const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST |
                                                UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                                UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                                  .conn_request = request,
                                  .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                  .err_handler = {on_closed, connection}};
  check_ucs(ucp_ep_create(self.worker, &params, &connection->endpoint), "accepting");
}

static ucs_status_t on_hello(void* argument, const void* header, size_t header_bytes, void* data,
                             size_t bytes, const ucp_am_recv_param_t* param) {
  (void)argument, (void)data, (void)bytes;
  check(header_bytes <= sizeof(struct hello), "the hello's length");
  check((param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0, "an endpoint to answer by");
  memcpy(&hellos[hello_count], header, header_bytes);
  replies[hello_count++] = param->reply_ep;
  return UCS_OK;
}

static struct connection* connection_of(const struct hello* who) {
  for (size_t i = 0; i < accepted_count; ++i) {
    if (accepted[i].port == who->port && !accepted[i].closed) return &accepted[i];
  }
  check(0, "finding a client's connection");
  return NULL;
}

static void serve(const struct hello* who, ucp_ep_h reply, struct welcome welcome) {
  struct connection* connection = by_worker ? NULL : connection_of(who);
  const ucp_ep_h endpoint = by_worker ? reply : connection->endpoint;
  send_active(reply, kWelcome, &welcome, sizeof welcome, who->pid);
  for (size_t i = 0; i < kSizeCount; ++i) receive_tagged(tag_of(who, 0, i), kSizes[i]);
  for (size_t i = 0; i < kSizeCount; ++i) {
    send_tagged(endpoint, tag_of(who, 1, i), kSizes[i], who->pid);
  }
  if (by_worker) return;
  while (!connection->closed) ucp_worker_progress(self.worker);
  close_by(endpoint, UCP_EP_CLOSE_FLAG_FORCE);
}

static void invite(const int* channels, uint16_t port) {
  ucp_address_t* address;
  struct invitation invitation = {.port = port};
  check_ucs(ucp_worker_get_address(self.worker, &address, &invitation.address_bytes),
            "ucp_worker_get_address");
  for (int i = 0; i < clients; ++i) {
    write_all(channels[i], &invitation, sizeof invitation);
    write_all(channels[i], address, invitation.address_bytes);
  }
  ucp_worker_release_address(self.worker, address);
}

static ucp_listener_h start_listening(void) {
  struct sockaddr_in address = loopback(0);
  if (strcmp(listen_on, "any") == 0) address.sin_addr.s_addr = htonl(INADDR_ANY);
  const ucp_listener_params_t params = {
      .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
      .sockaddr = {(struct sockaddr*)&address, sizeof address},
      .conn_handler = {on_connection, NULL}};
  ucp_listener_h listener;
  check_ucs(ucp_listener_create(self.worker, &params, &listener), "ucp_listener_create");
  return listener;
}

static void run_server(const int* channels) {
  open_worker();
  handle(kHello, on_hello);
  const ucp_listener_h listener = start_listening();
  ucp_listener_attr_t attributes = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
  check_ucs(ucp_listener_query(listener, &attributes), "ucp_listener_query");

  unsigned char* region = make_buffer(kRegionBytes);
  const ucp_mem_map_params_t region_params = {
      .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
      .address = region,
      .length = kRegionBytes};
  ucp_mem_h memory;
  void* key;
  struct welcome welcome = {.pid = (int)getpid(), .region = (uint64_t)region};
  check_ucs(ucp_mem_map(self.context, &region_params, &memory), "ucp_mem_map");
  check_ucs(ucp_rkey_pack(self.context, memory, &key, &welcome.key_bytes), "ucp_rkey_pack");
  check(welcome.key_bytes <= sizeof welcome.key, "a key that fits");
  memcpy(welcome.key, key, welcome.key_bytes);
  ucp_rkey_buffer_release(key);

  invite(channels, port_of(&attributes.sockaddr));
  for (size_t served = 0; served < (size_t)clients * kConnections; ++served) {
    while (hello_count == served) ucp_worker_progress(self.worker);
    serve(&hellos[served], replies[served], welcome);
  }
  ucp_listener_destroy(listener);
  for (int i = 0; i < clients; ++i) {  // until they have closed
    char done;
    while (recv(channels[i], &done, 1, MSG_DONTWAIT) != 1) ucp_worker_progress(self.worker);
  }
  check_ucs(ucp_mem_unmap(self.context, memory), "ucp_mem_unmap");
  free(region);
  close_worker();
}

// --- clients -------------------------------------------------------------------------------------

static struct welcome got_welcome;
static int welcomed;
static ucs_status_t failed_with;

static ucs_status_t on_welcome(void* argument, const void* header, size_t header_bytes, void* data,
                               size_t bytes, const ucp_am_recv_param_t* param) {
  (void)argument, (void)data, (void)bytes, (void)param;
  check(header_bytes == sizeof got_welcome, "the welcome's length");
  memcpy(&got_welcome, header, sizeof got_welcome);
  welcomed = 1;
  return UCS_OK;
}

static void on_failure(void* argument, ucp_ep_h endpoint, ucs_status_t status) {
  (void)argument, (void)endpoint;
  failed_with = status;
}

static ucp_ep_h connect_by_address(uint16_t port) {
  struct sockaddr_in address = loopback(port);
  const ucp_ep_params_t params = {
      .field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR |
                    UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
      .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
      .sockaddr = {(struct sockaddr*)&address, sizeof address},
      .err_mode = UCP_ERR_HANDLING_MODE_PEER,
      .err_handler = {on_failure, NULL}};
  ucp_ep_h endpoint;
  check_ucs(ucp_ep_create(self.worker, &params, &endpoint), "connecting");
  return endpoint;
}

static uint16_t own_port(ucp_ep_h endpoint) {
  ucp_ep_attr_t attributes = {.field_mask = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR};
  check_ucs(ucp_ep_query(endpoint, &attributes), "ucp_ep_query");
  return port_of(&attributes.local_sockaddr);
}

static void put(ucp_ep_h endpoint, unsigned char value) {
  static const size_t kPuts[] = {8, 5000, kRegionBytes};
  const ucp_request_param_t defaults = {0};
  ucp_rkey_h key;
  check_ucs(ucp_ep_rkey_unpack(endpoint, got_welcome.key, &key), "ucp_ep_rkey_unpack");
  unsigned char* buffer = make_buffer(kRegionBytes);
  memset(buffer, value, kRegionBytes);
  for (size_t i = 0; i < sizeof kPuts / sizeof *kPuts; ++i) {
    finish(&self, ucp_put_nbx(endpoint, buffer, kPuts[i], got_welcome.region, key, &defaults),
           "ucp_put_nbx");
    called("ucp_put_nbx", "put", got_welcome.pid, kPuts[i]);
  }
  finish(&self, ucp_ep_flush_nbx(endpoint, &defaults), "ucp_ep_flush_nbx");
  ucp_rkey_destroy(key);
  free(buffer);
}

static void use_connection(ucp_ep_h endpoint, int client, int number) {
  struct hello who = {.pid = (int)getpid(), .number = number};
  if (!by_worker) who.port = own_port(endpoint);
  welcomed = 0;
  send_active(endpoint, kHello, &who, offsetof(struct hello, padding) + (size_t)client,
              (int)getppid());
  while (!welcomed) ucp_worker_progress(self.worker);
  for (size_t i = 0; i < kSizeCount; ++i) {
    send_tagged(endpoint, tag_of(&who, 0, i), kSizes[i], got_welcome.pid);
  }
  put(endpoint, (unsigned char)number);
  for (size_t i = 0; i < kSizeCount; ++i) receive_tagged(tag_of(&who, 1, i), kSizes[i]);
  check(failed_with == UCS_OK, "the connection");
  close_by(endpoint, 0);
}

// A port that is bound, so that no other process gets it, but without a listener.
static void try_nobody(void) {
  struct sockaddr_in address = loopback(0);
  socklen_t bytes = sizeof address;
  const int bound = socket(AF_INET, SOCK_STREAM, 0);
  check(bind(bound, (struct sockaddr*)&address, sizeof address) == 0, "bind");
  check(getsockname(bound, (struct sockaddr*)&address, &bytes) == 0, "getsockname");
  const ucp_request_param_t defaults = {0};
  const ucp_ep_h endpoint = connect_by_address(ntohs(address.sin_port));
  char byte = 1;
  ucs_status_ptr_t request = ucp_tag_send_nbx(endpoint, &byte, 1, 1, &defaults);
  while (failed_with == UCS_OK) ucp_worker_progress(self.worker);
  if (UCS_PTR_IS_PTR(request)) {
    ucs_status_t status;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
      ucp_worker_progress(self.worker);
    }
    check(status != UCS_OK, "a send to nobody failing");
    ucp_request_free(request);
  }
  close_by(endpoint, UCP_EP_CLOSE_FLAG_FORCE);
  close(bound);
}

static void run_client(int client, int channel) {
  struct invitation invitation;
  read_all(channel, &invitation, sizeof invitation);
  ucp_address_t* address = (ucp_address_t*)make_buffer(invitation.address_bytes);
  read_all(channel, address, invitation.address_bytes);
  open_worker();
  handle(kWelcome, on_welcome);
  for (int number = 0; number < kConnections; ++number) {
    self.channel = channel;
    use_connection(by_worker ? connect_to(&self, address) : connect_by_address(invitation.port),
                   client, number);
  }
  if (!by_worker) try_nobody();
  const char done = 1;
  write_all(channel, &done, 1);
  close_worker();
  free(address);
}

// --- program -------------------------------------------------------------------------------------

static void read_arguments(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    if (strcmp(arguments[i], "--by-worker") == 0) {
      by_worker = 1;
    } else if (strcmp(arguments[i], "--listen") == 0 && i + 1 < count) {
      listen_on = arguments[++i];
    } else if (strcmp(arguments[i], "--clients") == 0 && i + 1 < count) {
      clients = atoi(arguments[++i]);
      check(clients >= 1 && clients <= kMaxClients, "the number of clients");
    } else {
      truth_prefix = arguments[i];
    }
  }
}

int main(int count, char** arguments) {
  program = "client_server";
  read_arguments(count, arguments);
  int channels[kMaxClients];
  pid_t children[kMaxClients];
  for (int i = 0; i < clients; ++i) {
    int pair[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
    children[i] = fork_pair();
    close(pair[children[i] != 0]);
    channels[i] = pair[children[i] == 0];
    if (children[i] == 0) {
      open_truth();
      run_client(i, channels[i]);
      exit(0);
    }
  }
  open_truth();
  run_server(channels);
  for (int i = 0; i < clients; ++i) {
    int status;
    check(waitpid(children[i], &status, 0) == children[i] && status == 0, "a client");
  }
  printf("client_server: %d clients were served %d times each\n", clients, kConnections);
  return 0;
}
