// Who is trusted how far, and what follows from it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace coop::policy {

// The most trusted is the smallest.
enum class TrustLevel : std::uint8_t { owner, full, inner, familiar, public_ };

std::string_view to_text(TrustLevel trust);  // "owner" … "public"
std::optional<TrustLevel> parse_trust(std::string_view text);

enum class Conversation : std::uint8_t { direct, group };

// owner for direct conversations (no ceiling), familiar for groups: others read along and may have
// put words there.
TrustLevel ceiling_of(Conversation conversation);

// The less trusted of the two.
TrustLevel resolve_trust(TrustLevel user, TrustLevel ceiling);

std::span<const std::string_view> memory_stores(TrustLevel trust);

struct ToolAccess {
  std::string_view tool;
  TrustLevel least;  // the least trusted level that may use it
};
// Every tool of the tool layer, in the order it lists them.
std::span<const ToolAccess> tools();
bool may_use(TrustLevel trust, std::string_view tool);

// False for the owner only.
bool is_sandboxed(TrustLevel trust);

}  // namespace coop::policy
