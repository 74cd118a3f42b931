// Contexts that are kept for requests waiting inside UCP: the table compared with a naive one, and
// the effect of starting a request.
#include "ucp-shim/dispatch.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

#include "uct-shim/deferred.hpp"

namespace uctrace::ucp {

// No protocol table here.
std::uint8_t protocol_of(uct_pending_callback_t) { return 7; }

namespace {

using log::Origin;
using log::Route;
using uct::Context;
using uct::ContextScope;

constexpr Context kNobody{};
Context call(log::Id operation) { return {operation, Origin::ucp, Route::call}; }

// The behaviour of a request's function, as UCP's would have it.
enum class Does { nothing, post, refuse, fail_to_queue };
Does does;
std::vector<Context> seen;
std::vector<std::uint8_t> protocols;

ucs_status_t function_of_request(uct_pending_req_t*) {
  seen.push_back(uct::thread_state.context);
  protocols.push_back(uct::thread_state.protocol);
  uct::thread_state.posted |= does == Does::post;
  uct::thread_state.refused |= does == Does::refuse;
  return does == Does::refuse || does == Does::fail_to_queue ? UCS_ERR_NO_RESOURCE : UCS_OK;
}

log::Id start(uct_pending_req_t& request, const Context& context, Does what) {
  does = what;
  request.func = function_of_request;
  const ContextScope scope(context);
  dispatch(&request);
  return seen.back().origin;
}

TEST_CASE("dispatch: a request that waits inside UCP starts again for whom it was") {
  uct_pending_req_t request{}, other{};
  CHECK(start(request, call(11), Does::fail_to_queue) == 11);
  CHECK(start(other, kNobody, Does::post) == 0);
  CHECK(start(request, kNobody, Does::fail_to_queue) == 11);
  CHECK(seen.back().route == Route::request);
  CHECK(protocols.back() == 7);
  CHECK(uct::thread_state.protocol == 0);
  // Inside a blocking call, whose progress serves any request.
  CHECK(start(request, {5, Origin::ucp, Route::blocking}, Does::post) == 11);
  CHECK(start(request, kNobody, Does::post) == 0);  // it was done
  CHECK_FALSE(uct::any_deferred());
}

TEST_CASE("dispatch: what posts or waits in a transport's queue is not kept") {
  uct_pending_req_t request{};
  start(request, call(12), Does::post);
  CHECK_FALSE(uct::any_deferred());
  start(request, call(13), Does::refuse);
  CHECK_FALSE(uct::any_deferred());
  CHECK(start(request, kNobody, Does::post) == 0);
}

TEST_CASE("dispatch: an address that is used again does not speak for the request before it") {
  uct_pending_req_t request{};
  start(request, call(14), Does::nothing);
  CHECK(start(request, call(15), Does::post) == 15);
  CHECK(start(request, kNobody, Does::post) == 0);
  start(request, call(16), Does::nothing);
  uct::forget_deferred(&request);  // it ended
  CHECK(start(request, kNobody, Does::post) == 0);
  start(request, call(17), Does::nothing);
  uct::forget_all_deferred();  // an endpoint failed
  CHECK(start(request, kNobody, Does::post) == 0);
  uct::forget_deferred(&request);
  CHECK_FALSE(uct::any_deferred());
}

TEST_CASE("dispatch: posts of others inside a start are not its own") {
  static uct_pending_req_t outer, inner;
  outer.func = [](uct_pending_req_t*) {
    start(inner, call(19), Does::post);  // as from a completion
    return UCS_ERR_NO_RESOURCE;
  };
  {
    const ContextScope scope(call(18));
    dispatch(&outer);
  }
  outer.func = function_of_request;
  does = Does::post;
  dispatch(&outer);
  CHECK(seen.back().origin == 18);
  CHECK_FALSE(uct::any_deferred());
}

TEST_CASE("carried: the table agrees with a naive one") {
  std::map<const void*, log::Id> naive;
  std::mt19937 random(1);
  static char requests[500 * 264];
  for (int i = 0; i < 100000; ++i) {
    const void* request = requests + random() % 500 * 264;
    switch (random() % 4) {
      case 0:
        uct::defer(request, call(static_cast<log::Id>(i) + 1));
        naive[request] = static_cast<log::Id>(i) + 1;
        break;
      case 1:
        uct::forget_deferred(request);
        naive.erase(request);
        break;
      default: {
        Context context{};
        const bool known = uct::find_deferred(request, context);
        REQUIRE(known == (naive.count(request) != 0));
        if (known) {
          REQUIRE(context.origin == naive[request]);
        }
      }
    }
    REQUIRE(uct::deferred_requests.load() == naive.size());
    if (random() % 10000 == 0) {
      uct::forget_all_deferred();
      for (const auto& [left, id] : naive) {
        Context context{};
        REQUIRE_FALSE(uct::find_deferred(left, context));
        uct::forget_deferred(left);
      }
      naive.clear();
    }
  }
  for (const auto& [left, id] : naive) {
    uct::forget_deferred(left);
  }
  CHECK_FALSE(uct::any_deferred());
}

TEST_CASE("carried: parts of a request by version and size") {
  char request[272];
  uct::use_request_layout(uct::request_layout(*ucx::find_release(1, 13), 272));
  const void* known = request + 224;  // its uct_pending_req_t
  CHECK(uct::request_at(request) == known);
  CHECK(uct::request_of_handle(request + 272) == known);
  CHECK(uct::request_of_completion(reinterpret_cast<uct_completion_t*>(request + 152)) == known);
  CHECK(uct::request_of_handle(nullptr) == nullptr);
  CHECK(uct::request_layout(*ucx::find_release(1, 13), 273) == uct::RequestLayout{});
  uct::use_request_layout(uct::request_layout(*ucx::find_release(1, 22),
                                              280));  // two copies that differ: none is known
  CHECK(uct::request_of_handle(request + 272) == nullptr);
}

TEST_CASE("carried: who moves requests, and who throws them away") {
  const auto mover = [](uct_pending_req_t*, void*) {};
  const auto other = [](uct_pending_req_t* request, void*) { request->func = nullptr; };
  CHECK_FALSE(uct::moves_requests(mover));
  uct::set_request_mover(mover);
  uct::set_request_mover(mover);
  CHECK(uct::moves_requests(mover));
  CHECK_FALSE(uct::moves_requests(other));
}

}  // namespace
}  // namespace uctrace::ucp
