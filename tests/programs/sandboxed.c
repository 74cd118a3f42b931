// Sends messages to itself, goes into a sandbox, and sends as many again. With the KIND "thread"
// for two seconds or more. With "SIGKILL" there is no sandbox, and that is its end.
//
//     sandboxed KIND MESSAGES [before]      a KIND of sandbox.h; before: already before UCX starts
#include <signal.h>
#include <time.h>

#include "sandbox.h"
#include "ucp_self.h"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int messages = atoi(argv[2]), before = argc > 3;
  if (before) enter_sandbox(argv[1]);
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  ucp_context_h context;
  check(ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, NULL, &context) == UCS_OK,
        "ucp_init");
  const struct node node = open_node(context, UCS_THREAD_MODE_SINGLE);
  for (int i = 0; i < messages; ++i) send_to_self(node.worker, node.endpoint, (ucp_tag_t)i + 1, 8);
  printf("in the sandbox\n");
  fflush(stdout);
  if (!before) enter_sandbox(argv[1]);
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
