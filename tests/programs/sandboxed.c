// Sends messages to itself, enters a sandbox, and sends the same number again. With the KIND
// "thread" for two seconds or more. With "SIGKILL" it kills itself instead of entering a sandbox.
// With "waits" it sleeps there, and reports whether any of its threads is busy.
//
//     sandboxed KIND MESSAGES [before|at-once]      a KIND of sandbox.h
//
// before: it goes there already before UCX starts; at-once: as soon as UCX has started, and leaves
// by _exit()
#include <poll.h>
#include <signal.h>
#include <time.h>

#include "sandbox.h"
#include "ucp_self.h"

// Of a rest of a second much less is time of a processor.
static void rest(void) {
  const clock_t begun = clock();
  poll(NULL, 0, 1000);
  printf("it %s\n", clock() - begun < CLOCKS_PER_SEC / 2 ? "rests" : "spins");
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int messages = atoi(argv[2]), before = argc > 3 && strcmp(argv[3], "before") == 0;
  const int at_once = argc > 3 && strcmp(argv[3], "at-once") == 0;
  if (before) enter_sandbox(argv[1]);
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  ucp_context_h context;
  check(ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, NULL, &context) == UCS_OK,
        "ucp_init");
  const struct node node = open_node(context, UCS_THREAD_MODE_SINGLE);
  if (at_once) {
    enter_sandbox(argv[1]);
    for (volatile long work = 0; work < 30000000; ++work) {  // in which others would come along
    }
    _exit(0);
  }
  for (int i = 0; i < messages; ++i) send_to_self(node.worker, node.endpoint, (ucp_tag_t)i + 1, 8);
  printf("in the sandbox\n");
  fflush(stdout);
  if (!before) enter_sandbox(argv[1]);
  if (strcmp(argv[1], "waits") == 0) rest();
  const time_t until = strcmp(argv[1], "thread") == 0 ? time(NULL) + 3 : 0;
  do {
    for (int i = 0; i < messages; ++i) {
      send_to_self(node.worker, node.endpoint, (ucp_tag_t)i + 1, 8);
    }
  } while (time(NULL) < until);
  if (strcmp(argv[1], "SIGKILL") == 0) raise(SIGKILL);
  close_node(node);
  ucp_cleanup(context);
  printf("%d messages\n", 2 * messages);
  return 0;
}
