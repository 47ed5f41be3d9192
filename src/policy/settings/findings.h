// What a check found, where, and how to correct it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coop/origin.h"

namespace coop::policy {

enum class Severity : std::uint8_t { error, warning, info };
std::string_view to_text(Severity severity);

struct Finding {
  Severity severity = Severity::error;
  std::string check{};  // "sandbox_memory"
  std::string file{};   // empty: about the machine, not a file
  Position at{};
  std::string message{};
  std::string fix{};
  bool operator==(const Finding&) const = default;
};
using Findings = std::vector<Finding>;

// At the place of `origin`.
void add_finding(Findings& findings, Severity severity, std::string_view check,
                 const Origin& origin, std::string message, std::string fix = {});

bool has_errors(std::span<const Finding> findings);

// "coop.toml:3:10" or as much of it as is known.
std::string place_of(const std::string& file, const Position& at);

// "coop.toml:3", without the column.
inline std::string line_of(const std::string& file, const Position& at) {
  return place_of(file, {at.line, 0});
}

// "coop.toml:3:10: error: sandbox_memory: …" and, where there is one, "    fix: …"; with newlines.
std::string to_text(const Finding& finding);

// The first error as an Error whose operation is the position; the hint counts the others.
Error to_error(std::span<const Finding> findings);

}  // namespace coop::policy
