// JSON-RPC messages of the protocol, and the differences between its revisions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tools/tool.h"

namespace coop::mcp {

// Codes of JSON-RPC 2.0, and three of MCP.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kUnsupportedVersion = -32022;

// Until 2025-11-25 a client sends initialize first; from 2026-07-28 on every request names its
// revision, and the server keeps no state between requests.
enum class Era : std::uint8_t { greeting, stateless };

// Newest first.
std::span<const std::string_view> greeting_versions();
std::span<const std::string_view> stateless_versions();
bool is_version(std::string_view version);  // of either era

// The revision a request names; empty when it names none.
std::string version_of(const Json& params);
Era era_of(const Json& params);

// The stateless revisions require them in every request, if only as an empty object.
bool has_capabilities(const Json& params);
inline constexpr const char* kNoCapabilities =
    "params._meta has no object io.modelcontextprotocol/clientCapabilities";
// Of the error about a revision that is not spoken here: those that are, and the one asked for. A client of the stateless
// era hears of that era alone: another revision has another beginning.
Json unsupported_data(std::string_view requested, Era era);

// Whether a message is a request, which must be answered; otherwise it is a notification or an
// answer.
bool is_request(const Json& message);

// A string or an integer.
bool is_id(const Json& id);

// A batch (revisions until 2025-03-26) is accepted when each part is a message.
bool is_whole(const Json& message);
// The number of answers that follow a message or batch: one to each request, and to what is malformed.
std::size_t requests_in(const Json& message);
bool calls_a_tool(const Json& message);
bool is_stateless(const Json& message);

Json failure(const Json& id, int code, const std::string& message, Json data = {});
Json success(const Json& id, Json result);

}  // namespace coop::mcp
