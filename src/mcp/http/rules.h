// Access control for HTTP, decided from the head of a request alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/tool.h"

namespace coop::mcp {

// The relevant header fields; empty if missing.
struct HttpHead {
  std::string method{};
  std::string target{};
  std::string host{};
  std::string origin{};
  bool has_origin = false;
  bool repeated = false;  // one of Host, Origin and Authorization occurs twice
  std::string authorization{};
  std::string content_type{};
  std::string accept{};
  std::string session{};     // Mcp-Session-Id
  std::string version{};     // MCP-Protocol-Version
  std::string mcp_method{};  // Mcp-Method
  std::string mcp_name{};    // Mcp-Name
};

struct HttpRefusal {
  unsigned status = 400;
  std::string reason{};
  int code = -32600;  // of the JSON-RPC error in the body
  Json data{};        // of the same
  bool operator==(const HttpRefusal&) const = default;
};

inline constexpr std::string_view kEndpoint = "/mcp";

// Before the body is read: refuses pages in a browser (Origin), DNS rebinding (Host), and clients
// without the token.
std::optional<HttpRefusal> refuse_head(const HttpHead& head, std::uint16_t port,
                                       std::string_view token);

// After the body, so that the error can carry the request's id: an unknown revision, a request of a stateless revision that
// lacks what each must have, and a head that does not repeat what is in the body.
std::optional<HttpRefusal> refuse_mismatch(const HttpHead& head, const Json& message);

// Whether the client accepts this content type; without an Accept header it accepts all.
bool accepts(std::string_view accept, std::string_view type);

// Constant time, so that a token cannot be guessed byte by byte.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace coop::mcp
