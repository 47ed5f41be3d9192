// Messages of an MCP client, over both transports: any bytes get an answer of the protocol or none.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "mcp/http/rules.h"
#include "mcp/id_finder.h"
#include "mcp/protocol.h"
#include "mcp/server.h"

namespace {

using coop::Json;
using coop::tools::LiveTools;
using coop::tools::Toolbox;
namespace mcp = coop::mcp;

// With a trust level that may use no tool: messages are parsed, and no tool is called.
LiveTools& some_tools() {
  static LiveTools opened = [] {
    auto made = Toolbox::open({.trust = coop::policy::TrustLevel::public_,
                               .policy = coop::Policy{.workspace = "/usr/share"}});
    if (!made) std::abort();
    return LiveTools(std::move(*made));
  }();
  return opened;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static mcp::Server server(some_tools(), "0");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  server.receive_text(text, [](const Json& answer) {
    if (!answer.is_null() && !answer.contains("jsonrpc")) std::abort();
  });
  const Json message = Json::parse(text, nullptr, false);
  mcp::IdFinder finder;
  finder.feed(text);
  const Json found = finder.id();
  if (!found.is_null() && !mcp::is_id(found)) std::abort();
  const mcp::HttpHead head{
      .method = "POST", .version = "2026-07-28", .mcp_name = std::string(text)};
  if (!message.is_discarded()) mcp::refuse_mismatch(head, message);
  mcp::accepts(text, "text/event-stream");
  const mcp::HttpHead raw{.method = "POST",
                          .target = "/mcp",
                          .host = std::string(text),
                          .origin = std::string(text),
                          .has_origin = true,
                          .authorization = std::string(text)};
  if (!mcp::refuse_head(raw, 80, "0123456789abcdef")) std::abort();
  return 0;
}
