#include "egress/machine_addresses.h"

#include <gtest/gtest.h>

#include "base/address.h"

namespace coop::egress {
namespace {

Prefix address(std::string_view text) { return prefix_of(address_bytes(text).value()); }

TEST(MachineAddressesTest, AddressesOfThisMachineAreItsOwn) {
  const Result<MachineAddresses> machine = MachineAddresses::open();
  ASSERT_TRUE(machine.has_value());
  for (const char* text : {"127.0.0.1", "127.0.0.77", "::1"})
    EXPECT_TRUE(machine->forbidden(address(text))->machine) << text;
  for (const char* text : {"8.8.8.8", "2606:4700:4700::1111"})
    EXPECT_EQ(machine->forbidden(address(text)), std::nullopt) << text;
  EXPECT_EQ(machine->forbidden(address("10.1.2.3")), policy::Forbidden{.reason = "private"});
}

}  // namespace
}  // namespace coop::egress
