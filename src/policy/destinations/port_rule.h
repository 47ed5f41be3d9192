// Forwarded ports: [ADDR:]HOST:SANDBOX, PORT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "coop/policy.h"

namespace coop::policy {

// "5432": from 1 to 65535, without signs, blanks or leading zeros. The subject of an error is a sentence.
Result<std::uint16_t> parse_port(std::string_view text);

// "8080" (the same port on both sides), "8080:80", "127.0.0.1:8080:80", "[::1]:8080:80". The
// default address is 127.0.0.1. Names are refused: they may resolve to anything.
Result<PublishedPort> parse_published(std::string_view text);

// The one spelling of it: "127.0.0.1:8080:80".
std::string to_text(const PublishedPort& port);
// Its side of the host: "127.0.0.1:8080".
std::string host_side(const PublishedPort& port);

// Whether only the machine itself can connect to it.
bool is_loopback(const PublishedPort& port);

}  // namespace coop::policy
