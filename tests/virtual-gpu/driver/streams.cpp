#include "streams.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <set>

struct CUevent_st {
  // Counts records: what an earlier one queued does not end a later one.
  unsigned long long recorded = 0, over = 0;
  int polls = 0;  // since it was recorded
  CUstream stream = nullptr;
};

struct CUstream_st {
  CUcontext context;
  std::deque<std::function<CUresult()>> work;

  // All of it, or as far as `enough` becomes true. The first error is told, as the driver does
  // later.
  template <typename Enough>
  CUresult run_until(Enough enough) {
    CUresult first = CUDA_SUCCESS;
    while (!work.empty() && !enough()) {
      const auto next = std::move(work.front());
      work.pop_front();
      const CUresult result = next();
      first = first == CUDA_SUCCESS ? result : first;
    }
    return first;
  }
  CUresult run_all() {
    return run_until([] { return false; });
  }
};

namespace virtual_gpu {

namespace {

struct Streams {
  std::set<CUstream> all;
  std::set<CUevent> events;
};

Streams& streams() {
  static Streams& known = *new Streams();
  return known;
}

// Handles 0, 1 and 2 are the default stream, in which everything is done at once.
bool is_default(CUstream stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 2; }

bool is_stream(CUstream stream) { return is_default(stream) || streams().all.contains(stream); }

bool is_pageable(Address address) { return memory().find(address) == nullptr; }

// `use` of a stream that exists.
template <typename Use>
CUresult with_stream(CUstream stream, Use use) {
  if (!is_stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
  return use();
}

CUresult call_program(const std::function<void()>& function) {
  const CallbackScope scope;
  function();
  return CUDA_SUCCESS;
}

CUresult queue(CUstream stream, std::function<CUresult()> work) {
  if (is_default(stream)) {
    const CUresult before = run_all_streams();
    return before != CUDA_SUCCESS ? before : work();
  }
  stream->work.push_back(std::move(work));
  return CUDA_SUCCESS;
}

CUresult wait_for(CUstream stream) {
  return is_default(stream) ? run_all_streams() : stream->run_all();
}

bool is_over(CUevent event) { return event->over == event->recorded; }

CUresult finish(CUevent event) {
  if (is_over(event)) return CUDA_SUCCESS;
  return event->stream->run_until([&] { return is_over(event); });
}

}  // namespace

CUresult run_all_streams() {
  CUresult first = CUDA_SUCCESS;
  for (CUstream stream : streams().all) {
    const CUresult result = stream->run_all();
    first = first == CUDA_SUCCESS ? result : first;
  }
  return first;
}

CUcontext context_of(CUstream stream) {
  return is_default(stream) ? current_context() : stream->context;
}

CUresult queue_copy(CUstream stream, Address to, Address from, std::size_t bytes) {
  return with_stream(stream, [&] {
    const auto copy = [=] { return memory().copy(to, from, bytes); };
    if (is_pageable(to) || is_pageable(from)) {
      const CUresult before = wait_for(stream);
      return before != CUDA_SUCCESS ? before : copy();
    }
    return queue(stream, copy);
  });
}

}  // namespace virtual_gpu

using namespace virtual_gpu;

VIRTUAL_GPU_EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned) {
  return run("cuStreamCreate", Needs::context, [&] {
    *stream = new CUstream_st{current_context(), {}};
    streams().all.insert(*stream);
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuStreamDestroy(CUstream stream) {
  return run("cuStreamDestroy_v2", Needs::driver, [&] {
    if (!streams().all.contains(stream)) return CUDA_ERROR_INVALID_HANDLE;
    const CUresult result = stream->run_all();
    streams().all.erase(stream);
    delete stream;
    return result;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  return run("cuStreamSynchronize", Needs::driver,
             [&] { return with_stream(stream, [&] { return wait_for(stream); }); });
}

VIRTUAL_GPU_EXPORT CUresult cuStreamQuery(CUstream stream) {
  return run("cuStreamQuery", Needs::driver, [&] {
    return with_stream(stream, [&] {
      const bool idle = is_default(stream) || stream->work.empty();
      return idle ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
  });
}

VIRTUAL_GPU_EXPORT CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback,
                                                void* argument, unsigned) {
  return run("cuStreamAddCallback", Needs::driver, [&] {
    return with_stream(stream, [&] {
      return queue(stream,
                   [=] { return call_program([=] { callback(stream, CUDA_SUCCESS, argument); }); });
    });
  });
}

VIRTUAL_GPU_EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* argument) {
  return run("cuLaunchHostFunc", Needs::driver, [&] {
    return with_stream(stream, [&] {
      return queue(stream, [=] { return call_program([=] { function(argument); }); });
    });
  });
}

VIRTUAL_GPU_EXPORT CUresult cuEventCreate(CUevent* event, unsigned) {
  return run("cuEventCreate", Needs::context, [&] {
    *event = new CUevent_st();
    streams().events.insert(*event);
    return CUDA_SUCCESS;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuEventDestroy(CUevent event) {
  return run("cuEventDestroy_v2", Needs::driver, [&] {
    if (!streams().events.contains(event)) return CUDA_ERROR_INVALID_HANDLE;
    const CUresult result = run_all_streams();  // which may still have an earlier record of it
    streams().events.erase(event);
    delete event;
    return result;
  });
}

VIRTUAL_GPU_EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  return run("cuEventRecord", Needs::driver, [&] {
    if (!streams().events.contains(event)) return CUDA_ERROR_INVALID_HANDLE;
    return with_stream(stream, [&] {
      event->stream = stream;
      event->polls = 0;
      const unsigned long long record = ++event->recorded;
      return queue(stream, [=] {
        event->over = std::max(event->over, record);
        return CUDA_SUCCESS;
      });
    });
  });
}

VIRTUAL_GPU_EXPORT CUresult cuEventQuery(CUevent event) {
  return run("cuEventQuery", Needs::driver, [&] {
    if (!streams().events.contains(event)) return CUDA_ERROR_INVALID_HANDLE;
    if (is_over(event)) return CUDA_SUCCESS;
    return event->polls++ < settings().polls ? CUDA_ERROR_NOT_READY : finish(event);
  });
}

VIRTUAL_GPU_EXPORT CUresult cuEventSynchronize(CUevent event) {
  return run("cuEventSynchronize", Needs::driver, [&] {
    return streams().events.contains(event) ? finish(event) : CUDA_ERROR_INVALID_HANDLE;
  });
}
