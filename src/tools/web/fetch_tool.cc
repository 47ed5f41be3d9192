#include "tools/web/fetch_tool.h"

#include <algorithm>
#include <array>

#include "base/path.h"

namespace coop::tools {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// The length of a UTF-8 character by its first byte; 1 if invalid.
std::size_t length_of(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') || byte == 0x7f;
}

// For JSON, and possibly a terminal: invalid UTF-8 and control characters become U+FFFD.
std::string as_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::string_view character = text.substr(0, length_of(text.front()));
    const bool good = is_utf8(character) && !is_control(text.front());
    result += good ? character : kReplacement;
    text.remove_prefix(good ? character.size() : 1);
  }
  return result;
}

bool names_text(std::string_view type) {
  std::string name(type.substr(0, type.find(';')));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  while (name.ends_with(' ')) name.pop_back();
  constexpr std::array<std::string_view, 6> kText{"application/json",       "application/xml",
                                                  "application/javascript", "application/x-ndjson",
                                                  "application/yaml",       "application/toml"};
  return name.starts_with("text/") || name.ends_with("+json") || name.ends_with("+xml") ||
         std::ranges::find(kText, name) != kText.end();
}

bool is_text(const Fetched& page) {
  if (page.body.contains('\0')) return false;
  if (names_text(page.content_type)) return true;
  // The cut may have split the last character.
  for (std::size_t cut = 0; cut < 4 && cut <= page.body.size(); ++cut)
    if (is_utf8(std::string_view(page.body).substr(0, page.body.size() - cut))) return true;
  return false;
}

std::string text_of(const Fetched& page) {
  const std::string size = std::to_string(page.body.size()) + " bytes";
  const std::string type = page.content_type.empty() ? "not given" : page.content_type;
  std::string text = "HTTP " + std::to_string(page.status) + "\nurl: " + page.url +
                     "\ncontent type: " + type + "\n";
  if (page.truncated) text += "cut after " + size + "\n";
  if (!is_text(page)) return text + "\n[not text: " + type + ", " + size + "]\n";
  return text + "\n" + as_utf8(page.body);
}

}  // namespace

FetchRules fetch_rules(const Policy& policy, const std::vector<Prefix>& neighbours) {
  if (policy.network == NetworkMode::host) return {};
  FetchRules rules{.network = policy::sandbox_network(policy, neighbours)};
  rules.network.datagrams = {};  // HTTP goes over TCP
  return rules;
}

ToolOutput fetch_url(const Json& arguments, const Resolver& resolver, const FetchRules& rules,
                     FetchLimits limits) {
  const auto url = arguments.find("url");
  if (url == arguments.end() || !url->is_string())
    return refusal("fetch_url: \"url\" must be a string");
  if (const auto most = arguments.find("max_bytes"); most != arguments.end()) {
    const std::int64_t bytes = most->is_number_integer() ? most->get<std::int64_t>() : 0;
    if (bytes < 1) return refusal("fetch_url: \"max_bytes\" must be a number from 1 to 1048576");
    limits.size = std::min(static_cast<std::size_t>(bytes), limits.size);
  }
  const Result<Fetched> page = fetch(url->get_ref<const std::string&>(), limits, resolver, rules);
  if (!page) return refusal(page.error());
  ToolOutput output{.text = text_of(*page)};
  output.structured = {{"outcome", "ok"},
                       {"status", page->status},
                       {"url", page->url},
                       {"content_type", page->content_type},
                       {"truncated", page->truncated},
                       {"size", page->body.size()}};
  return output;
}

}  // namespace coop::tools
