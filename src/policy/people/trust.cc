#include "policy/people/trust.h"

#include <algorithm>
#include <array>

namespace coop::policy {

namespace {

constexpr std::array<std::string_view, 5> kWords{"owner", "full", "inner", "familiar", "public"};

constexpr std::array<std::string_view, 3> kStores{"private", "shared", "social"};

}  // namespace

std::string_view to_text(TrustLevel trust) { return kWords.at(static_cast<std::size_t>(trust)); }

std::span<const std::string_view> trust_words() { return kWords; }

std::optional<TrustLevel> parse_trust(std::string_view text) {
  const auto found = std::ranges::find(kWords, text);
  if (found == kWords.end()) return std::nullopt;
  return static_cast<TrustLevel>(found - kWords.begin());
}

TrustLevel ceiling_of(Conversation conversation) {
  return conversation == Conversation::group ? TrustLevel::familiar : TrustLevel::owner;
}

TrustLevel resolve_trust(TrustLevel user, TrustLevel ceiling) { return std::max(user, ceiling); }

// Full trust has all; each level below it loses the most private of the rest.
std::span<const std::string_view> memory_stores(TrustLevel trust) {
  const auto level = static_cast<std::size_t>(std::max(trust, TrustLevel::full));
  return std::span(kStores).subspan(level - static_cast<std::size_t>(TrustLevel::full));
}

bool may_use(TrustLevel trust, std::string_view tool) {
  const auto found = std::ranges::find(kTools, tool, &ToolAccess::tool);
  return found != kTools.end() && trust <= found->least;
}

bool is_sandboxed(TrustLevel trust) { return trust != TrustLevel::owner; }

}  // namespace coop::policy
