#include "sys/dbus/message.h"

#include <gtest/gtest.h>

#include "sys/dbus/user_manager.h"

namespace coop::dbus {
namespace {

Message hello() {
  return {.serial = 1,
          .destination = "org.freedesktop.DBus",
          .path = "/org/freedesktop/DBus",
          .interface = "org.freedesktop.DBus",
          .member = "Hello"};
}

TEST(DbusMessageTest, WhatIsWrittenIsReadAgain) {
  Writer body;
  body.text("coop");
  body.number(7);
  const Message call{.serial = 9,
                     .reply_to = 4,
                     .destination = "a.b",
                     .path = "/c",
                     .interface = "d.e",
                     .member = "F",
                     .signature = "su",
                     .body = body.take()};
  std::string bytes = encode(call) + encode(hello());
  const Result<std::optional<Message>> first = take_message(bytes);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(*first, call);
  const Result<std::optional<Message>> second = take_message(bytes);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(*second, hello());
  EXPECT_EQ(bytes, "");
}

// As dbus-send writes it, byte by byte: header, padded fields.
TEST(DbusMessageTest, TheWireFormIsTheSpecifications) {
  const std::string bytes = encode({.serial = 2, .path = "/x", .member = "Get"});
  const std::string expected(
      "l\x01\0\x01\0\0\0\0\x02\0\0\0\x1c\0\0\0"
      "\x01\x01o\0\x02\0\0\0/x\0\0\0\0\0\0"
      "\x03\x01s\0\x03\0\0\0Get\0\0\0\0\0",
      48);
  EXPECT_EQ(bytes, expected);
}

TEST(DbusMessageTest, APartOfAMessageIsKept) {
  const std::string whole = encode(hello());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::string bytes = whole.substr(0, size);
    const Result<std::optional<Message>> taken = take_message(bytes);
    ASSERT_TRUE(taken.has_value()) << size;
    EXPECT_FALSE(taken->has_value()) << size;
    EXPECT_EQ(bytes.size(), size);
  }
}

TEST(DbusMessageTest, WhatIsMalformedIsAnError) {
  const std::string whole = encode(hello());
  const auto changed = [&](std::size_t at, char value) {
    std::string bytes = whole;
    bytes[at] = value;
    return take_message(bytes).has_value();
  };
  EXPECT_TRUE(changed(8, 5));         // control: another serial
  EXPECT_FALSE(changed(0, 'B'));      // big endian
  EXPECT_FALSE(changed(1, 0));        // no kind
  EXPECT_FALSE(changed(3, 2));        // another version
  EXPECT_FALSE(changed(6, '\x7f'));   // a body of 8 MiB
  EXPECT_FALSE(changed(17, 9));       // a signature that is too long
  EXPECT_FALSE(changed(18, 'v'));     // a field of an unknown type
  EXPECT_FALSE(changed(20, '\x7f'));  // a text that is too long
}

TEST(DbusMessageTest, ATextEndsWithItsOnlyNul) {
  for (const std::string_view bytes :
       {std::string_view("\x02\0\0\0a\0\0", 7), std::string_view("\x02\0\0\0abc", 7),
        std::string_view("\x02\0\0\0ab", 6),
        std::string_view("\xff\xff\xff\xff"
                         "a",
                         5)})
    EXPECT_FALSE(Reader(bytes).text().has_value());
  EXPECT_EQ(Reader(std::string_view("\x02\0\0\0ab\0", 7)).text().value(), "ab");  // control
}

TEST(UserManagerTest, TheBusComesBeforeTheManagersOwnSocket) {
  using Environment = std::map<std::string, std::string>;
  using Paths = std::vector<Path>;
  EXPECT_EQ(manager_sockets({}), Paths{});
  EXPECT_EQ(manager_sockets(Environment{{"XDG_RUNTIME_DIR", "relative"}}), Paths{});
  EXPECT_EQ(manager_sockets(Environment{{"XDG_RUNTIME_DIR", "/run/user/1"}}),
            (Paths{"/run/user/1/bus", "/run/user/1/systemd/private"}));
  EXPECT_EQ(manager_sockets(Environment{
                {"XDG_RUNTIME_DIR", "/run/user/1"},
                {"DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1/bus,guid=ab;tcp:host=x"}}),
            (Paths{"/run/user/1/bus", "/run/user/1/systemd/private"}));
  EXPECT_EQ(manager_sockets(Environment{{"DBUS_SESSION_BUS_ADDRESS", "unix:path=/tmp/b"}}),
            Paths{"/tmp/b"});
  EXPECT_EQ(manager_sockets(Environment{{"DBUS_SESSION_BUS_ADDRESS", "unix:abstract=/tmp/b"}}),
            Paths{});
}

}  // namespace
}  // namespace coop::dbus
