// The page of a run over HTTP, for one reader on this machine or behind ssh. A new page is made for
// each requested span of time, with the first operations of that span in detail.
//
//   GET /TOKEN/             the page of the run
//   GET /TOKEN/FROM-TO      that of a span, in ns of the run
//   GET /TOKEN/tiles/N.js   of a page with tiles, the N-th
//
// Only readers with the token can see it: other users of this machine can connect, too.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cli/serving/http_message.hpp"

namespace uctrace::serving {

struct Span {
  std::uint64_t from_ns = 0, to_ns = 0;  // [from, to)
};

// Makes the page of a span as HTML.
using MakePage = std::function<std::string(const Span&)>;

// Makes the script of a tile; nothing: no tile has this number.
using MakeTile = std::function<std::optional<std::string>(std::size_t number)>;

// 128 random bits as text. Throws Error if the system has no source of them.
std::string random_token();

class PageServer {
 public:
  // `policy`: the Content-Security-Policy of the page. `whole`: the page of the run. A page with
  // tiles has no pages of spans, and vice versa.
  PageServer(std::string token, std::string policy, std::string whole, MakePage make)
      : PageServer(std::move(token), std::move(policy), std::move(whole), std::move(make),
                   nullptr) {}
  PageServer(std::string token, std::string policy, std::string whole, MakeTile make)
      : PageServer(std::move(token), std::move(policy), std::move(whole), nullptr,
                   std::move(make)) {}

  std::string path() const { return "/" + token_ + "/"; }
  HttpAnswer answer(const HttpRequest& request) const;

 private:
  PageServer(std::string token, std::string policy, std::string whole, MakePage make_page,
             MakeTile make_tile);
  HttpAnswer found(std::string body, const char* content_type = "text/html; charset=utf-8") const;

  const std::string token_, policy_, whole_;
  const MakePage make_page_;
  const MakeTile make_tile_;
};

}  // namespace uctrace::serving
