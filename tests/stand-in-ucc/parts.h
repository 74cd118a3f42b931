// What the core and the transport layers of this UCC share. As in the real one, each collective operation is a task,
// and every layer makes its tasks with ucc_coll_task_init(), which the core exports.
#pragma once

#include <stdbool.h>
#include <ucc/api/ucc.h>
#include <ucp/api/ucp.h>

struct ucc_context {
  ucc_oob_coll_t oob;
  ucp_context_h ucp;
  ucp_worker_h worker;
  ucp_ep_h* endpoints;  // to each process of the context
  struct ucc_coll_task* first;  // in progress
};

struct ucc_team {
  ucc_context_h context;
  uint32_t size, ep, number;
  uint32_t* places;  // of its members in the context
  uint32_t posted;   // operations so far
};

typedef struct ucc_coll_task ucc_coll_task_t;
struct ucc_coll_task {
  ucc_coll_req_t super;
  ucc_coll_args_t args;
  ucc_team_h team;
  ucc_status_t (*post)(ucc_coll_task_t* task);
  ucc_status_t (*progress)(ucc_coll_task_t* task);
  void** requests;  // of UCP
  uint32_t request_count;
  char* arrived;  // what each member sent
  uint64_t tag;   // of what this one sends
  bool has_sent;
  ucc_coll_task_t* next;
};

// The arguments and their order are UCC's, of every release from 1.0 on.
ucc_status_t ucc_coll_task_init(ucc_coll_task_t* task, ucc_coll_args_t* args, ucc_team_h team);

typedef ucc_status_t (*MakeTask)(ucc_coll_args_t* args, ucc_team_h team, ucc_coll_task_t** task);
