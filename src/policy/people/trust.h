// Trust levels, and what each may do.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "coop/request.h"

namespace coop::policy {

// The smallest is the most trusted.
enum class TrustLevel : std::uint8_t { owner, full, inner, familiar, public_ };

std::string_view to_text(TrustLevel trust);  // "owner" … "public"
std::span<const std::string_view> trust_words();
std::optional<TrustLevel> parse_trust(std::string_view text);

// owner for direct conversations (no ceiling), familiar for groups: others read the answers, and
// text may come from them.
TrustLevel ceiling_of(Conversation conversation);

// The less trusted of the two.
TrustLevel resolve_trust(TrustLevel user, TrustLevel ceiling);

std::span<const std::string_view> memory_stores(TrustLevel trust);

struct ToolAccess {
  std::string_view tool;
  TrustLevel least;  // the least trusted level that may use it
};
// Every tool, in the order they are listed. tools/table.cc has a row for each and does not compile otherwise.
// `familiar` may read. `inner` may also change files and run programs. What sends data off the
// machine (a file, a URL) needs `full`, which may see everything anyway.
inline constexpr std::array kTools{
    ToolAccess{"bash", TrustLevel::inner},
    ToolAccess{"exec", TrustLevel::inner},
    ToolAccess{"read_file", TrustLevel::familiar},
    ToolAccess{"write_file", TrustLevel::inner},
    ToolAccess{"edit_file", TrustLevel::inner},
    ToolAccess{"list_files", TrustLevel::familiar},
    ToolAccess{"search_files", TrustLevel::familiar},
    ToolAccess{"send_file", TrustLevel::full},
    ToolAccess{"fetch_url", TrustLevel::full},
};
bool may_use(TrustLevel trust, std::string_view tool);

// False for the owner only.
bool is_sandboxed(TrustLevel trust);

}  // namespace coop::policy
