// Reading [sandbox] tables in tests.
#pragma once

#include <string>
#include <string_view>

#include "policy/settings/settings.h"

namespace coop::policy::testing_support {

inline Source source_of(Shape shape) {
  return {.file = "p.toml",
          .scope = Scope::user,
          .shape = shape,
          .surroundings = {.home = "/home/ann",
                           .environment = {{"DATA", "/data"},
                                           {"NAME", "name"},
                                           {"EMPTY", ""},
                                           {"STAR", "/s*r"},
                                           {"UP", "/a/../b"},
                                           {"TILDE", "~/x"},
                                           {"AGAIN", "$DATA"},
                                           {"SET", "!a"}},
                           .base = "/base"}};
}

struct Outcome {
  Settings settings{};
  Findings findings{};
};

inline Outcome read(std::string_view text, Shape shape = Shape::policy_file) {
  Outcome outcome;
  outcome.settings = read_policy(text, source_of(shape), outcome.findings);
  return outcome;
}

inline Settings without_origins(Settings settings) {
  for (auto& [key, setting] : settings) {
    setting.origin = {};
    for (Item& item : setting.items) item.origin = {};
  }
  return settings;
}

}  // namespace coop::policy::testing_support

namespace coop::policy {

// How gtest shows them.
inline void PrintTo(const Finding& finding, std::ostream* out) { *out << to_text(finding); }
inline void PrintTo(const Settings& settings, std::ostream* out) { *out << to_toml(settings); }

}  // namespace coop::policy
