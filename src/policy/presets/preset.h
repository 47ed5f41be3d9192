// Presets: what a known agent needs, as data in policies/agents/. A layer of settings below every file of the user, and facts
// about the program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/settings/findings.h"
#include "policy/settings/settings.h"

namespace coop::policy {

// What shows that a program is the agent, beside the place where it lies.
enum class Recognition : std::uint8_t {
  by_name,
  by_package,  // other programs have its name: it must lie in one of its packages
};

// Whether the host's login still works when the agent has a copy.
enum class LoginKind : std::uint8_t {
  copy,   // keys and tokens that last
  fresh,  // refresh tokens that each use replaces: a copy would log the host out
};

struct Login {
  LoginKind kind = LoginKind::fresh;
  std::string why{};
  std::vector<std::string> files{};    // below the home
  std::vector<std::uint16_t> ports{};  // of the localhost that a browser is sent back to
  std::vector<std::string> hosts{};
  bool operator==(const Login&) const = default;
};

// Put right after the program's name, unless the user's own arguments say something else about it.
struct AddedArguments {
  std::vector<std::string> add{};
  std::vector<std::string> unless{};
  Origin origin{};
  bool operator==(const AddedArguments&) const = default;
};

// What the agent reaches for. Only its settings say what it may reach.
struct PresetHosts {
  std::string purpose{};  // "api", "updates"
  std::vector<std::string> hosts{};
  bool operator==(const PresetHosts&) const = default;
};

struct Preset {
  std::string name{};
  std::string title{};
  std::vector<std::string> commands{};  // names of its program
  std::vector<std::string> packages{};  // of npm, or of another manager
  std::vector<std::string> state{};     // what it writes below its home
  std::string measured{};               // the version that was tried; empty: none
  std::string own_sandbox{};            // what happens to a sandbox of its own
  Recognition recognition = Recognition::by_name;
  Login login{};
  AddedArguments arguments{};
  std::vector<HomeFile> files{};  // settings for a home that lacks them
  std::vector<PresetHosts> hosts{};
  Settings settings{};
  bool operator==(const Preset&) const = default;
};

struct ShippedPreset {
  std::string_view name;
  std::string_view text;
};

// Sorted by name.
std::span<const ShippedPreset> shipped_presets();

// Null for an unknown name.
const ShippedPreset* find_preset(std::string_view name);
std::vector<std::string_view> preset_names();
// The error for a name that is none; it names the nearest.
std::unexpected<Error> unknown_preset(std::string_view operation, const std::string& name);

// The one whose program has this name: "codex". Nothing is known yet about the program that the name leads to.
const ShippedPreset* preset_for_command(std::string_view command);

// Mistakes become findings.
Preset read_preset(const ShippedPreset& shipped, const Surroundings& surroundings,
                   Findings& findings);

// Whether the words before "--" say anything about what the preset would add: "--sandbox", "--sandbox=x", "-sx".
bool mentions(std::span<const std::string> words, const AddedArguments& arguments);

}  // namespace coop::policy
