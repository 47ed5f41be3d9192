// What the result of a run keeps from a flood of decisions.
#include <gtest/gtest.h>

#include <algorithm>

#include "run/network/network.h"
#include "run/network/worker.h"

namespace coop::run {
namespace {

NetworkEvent event(NetworkEvent::Kind kind, const std::string& host) {
  return {.kind = kind, .host = host, .port = 443, .rule = Rule::of_coop(Part::unlisted)};
}

TEST(NetworkEventsTest, AFloodOfLookupsHidesNoConnection) {
  NetworkShared shared;
  for (int count = 0; count < 5000; ++count)
    shared.record(event(NetworkEvent::Kind::lookup, "n" + std::to_string(count) + ".example"));
  shared.record(event(NetworkEvent::Kind::connection, "evil.example"));
  ASSERT_EQ(shared.first.size(), 1U);
  EXPECT_EQ(shared.first.front().host, "evil.example");
  EXPECT_GT(shared.left_out, 4000U);
  std::vector<NetworkEvent> all = shared.lookups;
  all.push_back(shared.first.front());
  const std::vector<Denial> denials = denials_of(all);
  EXPECT_EQ(denials.back().what, "connecting to evil.example:443");
}

TEST(NetworkEventsTest, OfAFloodOfConnectionsTheFirstAndTheLastAreKept) {
  NetworkShared shared;
  for (int count = 0; count < 5000; ++count)
    shared.record(event(NetworkEvent::Kind::connection, std::to_string(count)));
  EXPECT_EQ(shared.first.front().host, "0");
  EXPECT_EQ(shared.last.back().host, "4999");
  EXPECT_EQ(shared.first.size() + shared.last.size() + shared.left_out, 5000U);
}

TEST(NetworkEventsTest, EachDenialIsToldOnce) {
  NetworkEvent allowed = event(NetworkEvent::Kind::connection, "good.example");
  allowed.allowed = true;
  const NetworkEvent denied = event(NetworkEvent::Kind::datagrams, "2600::1");
  EXPECT_EQ(denials_of({denied, allowed, denied}),
            (std::vector<Denial>{
                {.what = "datagrams to [2600::1]:443", .rule = Rule::of_coop(Part::unlisted)}}));
}

}  // namespace
}  // namespace coop::run
