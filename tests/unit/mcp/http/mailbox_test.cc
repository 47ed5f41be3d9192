#include "mcp/http/mailbox.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <thread>

namespace coop::mcp {
namespace {

// A notification that the thread of the event loop sends before the answer that a call's thread sends.
TEST(MailboxTest, MessagesKeepTheOrderInWhichTheyWereSent) {
  boost::asio::io_context loop{1};
  const auto mailbox = std::make_shared<Mailbox>(loop.get_executor());
  std::string events;
  std::size_t answered = 0;
  boost::asio::post(loop, [&] {
    mailbox->send({{"method", "first"}});
    std::thread([&] { mailbox->send({{"result", 1}}); }).join();
  });
  boost::asio::post(loop, [&] {
    mailbox->bell.expires_after(std::chrono::seconds(60));
    mailbox->bell.async_wait([&](auto) { events += mailbox->take_events(answered); });
  });
  loop.run();
  EXPECT_EQ(events,
            "event: message\ndata: {\"method\":\"first\"}\n\n"
            "event: message\ndata: {\"result\":1}\n\n");
  EXPECT_EQ(answered, 1U);
}

TEST(MailboxTest, ProgressIsDroppedWhenItIsNotReadAndAnswersAreNot) {
  boost::asio::io_context loop{1};
  const auto mailbox = std::make_shared<Mailbox>(loop.get_executor());
  for (std::size_t sent = 0; sent <= Mailbox::kMostProgress; ++sent)
    mailbox->send({{"method", "notifications/progress"}});
  mailbox->send({{"result", 1}});
  mailbox->send(nullptr);
  Json answers = Json::array();
  EXPECT_EQ(mailbox->take_answers(answers), 2U);
  EXPECT_EQ(answers, Json::parse(R"([{"result":1}])"));
}

}  // namespace
}  // namespace coop::mcp
