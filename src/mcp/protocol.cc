#include "mcp/protocol.h"

#include <algorithm>
#include <array>

namespace coop::mcp {

namespace {

constexpr std::array<std::string_view, 4> kGreeting{"2025-11-25", "2025-06-18", "2025-03-26",
                                                    "2024-11-05"};
constexpr std::array<std::string_view, 1> kStateless{"2026-07-28"};
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

}  // namespace

std::span<const std::string_view> greeting_versions() { return kGreeting; }
std::span<const std::string_view> stateless_versions() { return kStateless; }

bool is_version(std::string_view version) {
  return std::ranges::find(kGreeting, version) != kGreeting.end() ||
         std::ranges::find(kStateless, version) != kStateless.end();
}

std::string version_of(const Json& params) {
  if (!params.is_object()) return {};
  const auto meta = params.find("_meta");
  if (meta == params.end() || !meta->is_object()) return {};
  const auto version = meta->find(kVersionKey);
  if (version == meta->end()) return {};
  return version->is_string() ? version->get<std::string>() : version->dump();
}

Era era_of(const Json& params) {
  return version_of(params).empty() ? Era::greeting : Era::stateless;
}

bool has_capabilities(const Json& params) {
  const auto meta = params.find("_meta");
  if (meta == params.end() || !meta->is_object()) return false;
  const auto capabilities = meta->find(kCapabilitiesKey);
  return capabilities != meta->end() && capabilities->is_object();
}

Json unsupported_data(std::string_view requested, Era era) {
  Json supported = Json::array();
  for (const std::string_view version : kStateless) supported.push_back(version);
  if (era == Era::greeting)
    for (const std::string_view version : kGreeting) supported.push_back(version);
  return {{"supported", supported}, {"requested", requested}};
}

bool is_request(const Json& message) {
  return message.is_object() && message.contains("method") && message.contains("id") &&
         !message.at("id").is_null();
}

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

// As Server::receive() answers: what is malformed, and every request.
static bool is_answered(const Json& message) {
  if (!message.is_object()) return true;
  const Json id = message.value("id", Json());
  const bool good_id = is_id(id);
  if (!id.is_null() && !good_id) return true;
  if (!message.contains("method")) return false;
  return good_id || !message.at("method").is_string() ||
         !message.value("params", Json::object()).is_object();
}

bool is_whole(const Json& message) {
  if (!message.is_array()) return true;
  return !message.empty() && std::ranges::all_of(message, [](const Json& one) {
    const bool named = one.is_object() && (!one.contains("method") || one.at("method").is_string());
    return named && one.value("jsonrpc", Json()) == "2.0";
  });
}

std::size_t requests_in(const Json& message) {
  if (!message.is_array()) return is_answered(message) ? 1 : 0;
  return static_cast<std::size_t>(std::ranges::count_if(message, is_answered));
}

bool calls_a_tool(const Json& message) {
  if (message.is_array()) return std::ranges::any_of(message, calls_a_tool);
  return is_request(message) && message.at("method") == "tools/call";
}

bool is_stateless(const Json& message) {
  return message.is_object() && era_of(message.value("params", Json::object())) == Era::stateless;
}

Json failure(const Json& id, int code, const std::string& message, Json data) {
  Json error{{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = std::move(data);
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

Json success(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

}  // namespace coop::mcp
