#include "policy/settings/findings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/path.h"

namespace coop::policy {

namespace {

bool is_error(const Finding& finding) { return finding.severity == Severity::error; }

// "write it as …; 2 more errors"
std::string with_count(const std::string& fix, std::ptrdiff_t others) {
  if (others == 0) return fix;
  const std::string count = others == 1 ? "1 more error" : std::to_string(others) + " more errors";
  return fix.empty() ? "there " + std::string(others == 1 ? "is " : "are ") + count
                     : fix + "; " + count;
}

}  // namespace

std::string_view to_text(Severity severity) {
  constexpr std::array<std::string_view, 3> kWords{"error", "warning", "info"};
  return kWords.at(static_cast<std::size_t>(severity));
}

void add_finding(Findings& findings, Severity severity, std::string_view check,
                 const Origin& origin, std::string message, std::string fix) {
  findings.push_back(
      {severity, std::string(check), origin.file, origin.at, std::move(message), std::move(fix)});
}

bool has_errors(std::span<const Finding> findings) {
  return std::ranges::any_of(findings, is_error);
}

std::string place_of(const std::string& file, const Position& at) {
  std::string place = printable(file);
  if (place.empty() || at.line <= 0) return place;
  place += ":" + std::to_string(at.line);
  if (at.column > 0) place += ":" + std::to_string(at.column);
  return place;
}

std::string to_text(const Finding& finding) {
  std::string text = place_of(finding.file, finding.at);
  if (!text.empty()) text += ": ";
  text += to_text(finding.severity);
  text += ": ";
  if (!finding.check.empty()) text += finding.check + ": ";
  text += finding.message + "\n";
  if (!finding.fix.empty()) text += "    fix: " + finding.fix + "\n";
  return text;
}

Error to_error(std::span<const Finding> findings) {
  const auto first = std::ranges::find_if(findings, is_error);
  if (first == findings.end())
    return Error{Error::Kind::internal, 0, "findings", "none of them is an error", {}, {}};
  const std::string place = place_of(first->file, first->at);
  const auto others = std::ranges::count_if(findings, is_error) - 1;
  return Error{Error::Kind::invalid, 0,  place.empty() ? first->check : place,
               first->message,       {}, with_count(first->fix, others)};
}

}  // namespace coop::policy
