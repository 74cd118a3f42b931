#include "cli/serving/page_server.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace uctrace::serving {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

struct Served {
  std::vector<std::string> made;
  PageServer pages{
      kToken, "default-src 'none'", "whole", [this](const Span& span) {
        made.push_back(std::to_string(span.from_ns) + " to " + std::to_string(span.to_ns));
        return made.back();
      }};

  HttpAnswer get(const std::string& path) {
    return pages.answer({.method = "GET", .path = path, .host = {}, .accept = {}});
  }
};

TEST_CASE("the page of the run is there, those of spans are made when they are asked for") {
  Served served;
  for (int i = 0; i < 2; ++i) {
    CHECK(served.get("/" + kToken + "/").body == "whole");
    CHECK(served.get("/" + kToken + "/7-12").body == "7 to 12");
  }
  CHECK(served.made == std::vector<std::string>{"7 to 12", "7 to 12"});
  const HttpAnswer answer = served.get(served.pages.path());
  CHECK(answer.status == 200);
  CHECK(answer.policy == "default-src 'none'");
  CHECK(answer.content_type.starts_with("text/html"));
}

TEST_CASE("a page with tiles has these beside it, and no pages of spans") {
  std::vector<std::size_t> asked;
  const MakeTile make = [&](std::size_t number) -> std::optional<std::string> {
    asked.push_back(number);
    return number < 3 ? std::optional("tile " + std::to_string(number)) : std::nullopt;
  };
  const PageServer pages(kToken, "script-src 'self'", "whole", make);
  const auto get = [&](const std::string& path) {
    return pages.answer({.method = "GET", .path = path, .host = {}, .accept = {}});
  };
  CHECK(get(pages.path()).body == "whole");
  const HttpAnswer tile = get(pages.path() + "tiles/2.js");
  CHECK(tile.status == 200);
  CHECK(tile.body == "tile 2");
  CHECK(tile.content_type.starts_with("text/javascript"));
  CHECK(get(pages.path() + "tiles/3.js").status == 404);
  CHECK(asked == std::vector<std::size_t>{2, 3});
  for (const char* path : {"tiles/", "tiles/.js", "tiles/x.js", "tiles/1", "tiles/1.js/",
                           "tiles/+1.js", "tiles/99999999999999999999.js", "2.js", "7-12"}) {
    CAPTURE(path);
    CHECK(get(pages.path() + path).status == 404);
  }
  CHECK(get("/tiles/1.js").status == 403);
  CHECK(asked.size() == 2);
}

TEST_CASE("without the token nothing is made, and nothing told of what is there") {
  Served served;
  for (const std::string& path :
       {std::string("/"), std::string(""), "/" + kToken, "/" + kToken.substr(1) + "/",
        "/" + kToken + "0/", "//" + kToken + "/", std::string("/00000000000000000000000000000000/"),
        std::string("/7-12"), std::string("*")}) {
    CAPTURE(path);
    CHECK(served.get(path).status == 403);
  }
  CHECK(served.pages
            .answer({.method = "GET",
                     .path = served.pages.path(),
                     .host = "127.0.0.1:1",
                     .accept = {},
                     .fetch_site = "cross-site"})
            .status == 403);
  CHECK(served.made.empty());
}

TEST_CASE("what is no span is not there") {
  Served served;
  for (const char* rest : {"7", "-", "7-", "-7", "12-7", "7-7", "7-12/", "7-12x", " 7-12", "+7-12",
                           "0x7-12", "7-99999999999999999999999", "../etc/passwd", "7--12"}) {
    CAPTURE(rest);
    CHECK(served.get("/" + kToken + "/" + rest).status == 404);
  }
  CHECK(served.made.empty());
}

TEST_CASE("tokens are 128 bits, and none is like another") {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(random_token());
  CHECK(tokens.size() == 100);
  for (const std::string& token : tokens) CHECK(token.size() == 32);
}

}  // namespace
}  // namespace uctrace::serving
