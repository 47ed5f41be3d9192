#include "policy/policy.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/path.h"
#include "base/text.h"

namespace coop {

namespace {

using Words = std::span<const std::string_view>;

// In the order of the enumerators.
constexpr std::array<std::string_view, 2> kViews{"minimal", "host"};
constexpr std::array<std::string_view, 2> kAccesses{"read-only", "read-write"};
constexpr std::array<std::string_view, 5> kNetworkModes{"none", "allowlist", "full", "veth",
                                                        "host"};
constexpr std::array<std::string_view, 3> kMechanisms{"landlock", "proc", "limits"};

std::string_view word_of(Words words, auto value) { return words[static_cast<std::size_t>(value)]; }

template <typename Enum>
Result<Enum> parse_word(Words words, std::string_view text, std::string_view operation,
                        const std::string& complaint) {
  const auto found = std::ranges::find(words, text);
  if (found != words.end()) return static_cast<Enum>(found - words.begin());
  return invalid(operation, "\"" + printable(text) + "\" " + complaint,
                 "one of: " + joined(words, ", "));
}

}  // namespace

Need Policy::need(Mechanism mechanism) const {
  const auto found = needs.find(mechanism);
  if (found != needs.end()) return found->second;
  // Landlock repeats what the mounts enforce, and cgroups may be unavailable to an ordinary user:
  // both degrade with a note. A missing /proc breaks programs, so it is an error.
  return mechanism == Mechanism::proc ? Need::required : Need::best_effort;
}

std::string_view to_text(View view) { return word_of(kViews, view); }
std::string_view to_text(Access access) { return word_of(kAccesses, access); }
std::string_view to_text(NetworkMode mode) { return word_of(kNetworkModes, mode); }
std::string_view to_text(Mechanism mechanism) { return word_of(kMechanisms, mechanism); }

std::string to_text(const Home& home) {
  if (home.kind == HomeKind::kept) return home.name;
  return home.kind == HomeKind::workspace ? "workspace" : "ephemeral";
}

Home home_of(std::string_view text) {
  if (text == "ephemeral") return {};
  if (text == "workspace") return {.kind = HomeKind::workspace};
  return {.kind = HomeKind::kept, .name = std::string(text)};
}

bool is_home_name(std::string_view text) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= 64 && is_alphanumeric(text.front()) &&
         std::ranges::all_of(
             text, [&](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

Result<Mechanism> parse_mechanism(std::string_view text) {
  return parse_word<Mechanism>(kMechanisms, text, "mechanism", "is not a mechanism");
}

Result<NetworkMode> parse_network(std::string_view text) {
  return parse_word<NetworkMode>(kNetworkModes, text, "network", "is not a network mode");
}

Origin origin_of(const Policy& policy, std::string_view key, std::string_view flag,
                 std::string_view value) {
  const auto known = policy.origins.of.find(key);
  return known == policy.origins.of.end() || !known->second.flag.empty()
             ? Origin::of_flag(flag, value)
             : known->second;
}

}  // namespace coop
