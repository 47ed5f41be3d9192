#include "policy/people/trust.h"

#include <algorithm>
#include <array>

namespace coop::policy {

namespace {

constexpr std::array<std::string_view, 5> kWords{"owner", "full", "inner", "familiar", "public"};

constexpr std::array<std::string_view, 3> kStores{"private", "shared", "social"};

}  // namespace

std::string_view to_text(TrustLevel trust) { return kWords.at(static_cast<std::size_t>(trust)); }

std::optional<TrustLevel> parse_trust(std::string_view text) {
  const auto found = std::ranges::find(kWords, text);
  if (found == kWords.end()) return std::nullopt;
  return static_cast<TrustLevel>(found - kWords.begin());
}

TrustLevel ceiling_of(Conversation conversation) {
  return conversation == Conversation::group ? TrustLevel::familiar : TrustLevel::owner;
}

TrustLevel resolve_trust(TrustLevel user, TrustLevel ceiling) { return std::max(user, ceiling); }

std::span<const std::string_view> memory_stores(TrustLevel trust) {
  const std::span<const std::string_view> all(kStores);
  switch (trust) {
    case TrustLevel::owner:
    case TrustLevel::full: return all;
    case TrustLevel::inner: return all.subspan(1);
    case TrustLevel::familiar: return all.subspan(2);
    case TrustLevel::public_: break;
  }
  return {};
}

bool may_use(TrustLevel trust, std::string_view tool) {
  const auto found = std::ranges::find(kTools, tool, &ToolAccess::tool);
  return found != kTools.end() && trust <= found->least;
}

bool is_sandboxed(TrustLevel trust) { return trust != TrustLevel::owner; }

}  // namespace coop::policy
