// The head of the answer to a forwarded request.
#pragma once

#include <string>

namespace coop::egress {

enum class HeadState : std::uint8_t { incomplete, passed };

// Moves from `bytes` to `out` what the client may have already: interim answers (100), then the head with "Connection:
// close" in place of what the server says of its connection. A forwarded request is the last of its connection, and not
// every server repeats that: a client that is not told sends its next request into a connection that is being closed.
// Passed: the head is out, or is none; what is left in `bytes` follows as it is.
HeadState pass_response_head(std::string& bytes, std::string& out);

}  // namespace coop::egress
