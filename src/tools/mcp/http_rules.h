// Who may speak to the server over HTTP, judged by the head of a request alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/tool.h"

namespace coop::tools::mcp {

// The fields of a request's head that count; empty where it has none.
struct HttpHead {
  std::string method{};
  std::string target{};
  std::string host{};
  std::string origin{};
  bool has_origin = false;
  bool repeated = false;  // one of Host, Origin and Authorization is there twice
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
  bool operator==(const HttpRefusal&) const = default;
};

inline constexpr std::string_view kEndpoint = "/mcp";

// Before the body is read: a page in a browser, another machine's name for this address, or somebody
// without the token gets no further.
std::optional<HttpRefusal> refuse_head(const HttpHead& head, std::uint16_t port,
                                       std::string_view token);

// Once the body is there: what the stateless revisions repeat in the head must agree with the body.
std::optional<HttpRefusal> refuse_mismatch(const HttpHead& head, const Json& message);

// Whether the client takes this kind of answer; one that says nothing takes all.
bool accepts(std::string_view accept, std::string_view type);

// Takes as long whatever the texts are, so that nobody can guess a token byte by byte.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace coop::tools::mcp
