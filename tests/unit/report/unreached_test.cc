#include "report/text.h"

#include <gtest/gtest.h>

namespace coop::report {
namespace {

NetworkEvent event(std::string host, std::string problem, bool allowed = true) {
  return {.host = std::move(host), .port = 443, .allowed = allowed, .problem = std::move(problem)};
}

TEST(UnreachedTest, HostsThatWereAllowedAndNeverReachedAreListedOnce) {
  NetworkEvent lookup = event("a.example", "x");
  lookup.kind = NetworkEvent::Kind::lookup;
  const std::vector<NetworkEvent> found = unreached_of({
      lookup,
      event("a.example", "no such name"),
      event("a.example", "ETIMEDOUT"),
      event("b.example", "ECONNREFUSED"),
      event("b.example", ""),  // later it was
      event("c.example", "is denied", false),
      event("d.example", ""),
  });
  EXPECT_EQ(found, std::vector{event("a.example", "ETIMEDOUT")});
}

TEST(UnreachedTest, TheListOfUnreachedHostsIsBounded) {
  std::vector<NetworkEvent> events;
  for (int index = 0; index < 500; ++index)
    events.push_back(event("h" + std::to_string(index) + ".example", "no such name"));
  EXPECT_EQ(unreached_of(events).size(), 20U);
}

}  // namespace
}  // namespace coop::report
