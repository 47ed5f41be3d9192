#include "policy/settings/read_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include "base/nearest.h"
#include "base/path.h"
#include "base/quantity.h"
#include "base/text.h"
#include "policy/policy.h"
#include "policy/quoted.h"
#include "policy/settings/expand.h"
#include "policy/settings/read_items.h"
#include "policy/settings/toml_text.h"

namespace coop::policy {

namespace {

constexpr std::size_t kMostItems = 1000;
constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 62;
constexpr std::uint64_t kMostProcesses = 4194304;     // the kernel's maximum
constexpr std::uint64_t kMostFiles = 1073741816;      // the kernel's maximum of fs.nr_open
constexpr std::uint64_t kMostMilliCpus = 1000000000;  // a million processors

// Errors of base/quantity.h quote the whole text; shorten it.
std::unexpected<Error> bad_quantity(std::string_view text, const Error& error) {
  constexpr std::size_t kLongest = 64;
  if (text.size() > kLongest) return bad_value(quote(text) + " is too long", error.hint);
  return bad_value(printable(error.subject), error.hint);
}

// A value, an error in it, or (monostate) a value of the wrong type.
using Read = Result<Scalar>;
constexpr std::monostate kWrongType{};

Read read_word(const KeyInfo& key, const Node& node) {
  const std::string* text = node.text();
  if (text == nullptr) return kWrongType;
  const std::vector<std::string_view> words = split_words(key.words);
  if (contains(words, *text)) return *text;
  return bad_value(quote(*text) + " is unknown", suggestion(*text, words));
}

// Of a number that TOML or a text gave.
Read within_range(const KeyInfo& key, std::uint64_t number) {
  TRY(check_range(key, number));
  return number;
}

Read read_size(const KeyInfo& key, const Node& node) {
  std::uint64_t bytes = 0;
  if (const std::int64_t* number = node.integer()) {
    if (*number < 0) return bad_value("a size cannot be negative");
    bytes = static_cast<std::uint64_t>(*number);
  } else if (const std::string* text = node.text()) {
    const Result<std::uint64_t> parsed = parse_size(*text);
    if (!parsed) return bad_quantity(*text, parsed.error());
    bytes = *parsed;
  } else {
    return kWrongType;
  }
  return within_range(key, bytes);
}

Read read_count(const KeyInfo& key, const Node& node) {
  const std::int64_t* number = node.integer();
  if (number == nullptr) return kWrongType;
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(*number, 0));
  return within_range(key, count);
}

Read read_cpus(const KeyInfo& key, const Node& node) {
  std::uint64_t milli = 0;
  if (const std::int64_t* whole = node.integer()) {
    milli = static_cast<std::uint64_t>(std::clamp<std::int64_t>(*whole, 0, kMostMilliCpus)) * 1000;
  } else if (const double* number = node.number()) {
    const double scaled = std::clamp(*number, 0.0, 1e9) * 1000;
    milli = static_cast<std::uint64_t>(std::llround(scaled));
    if (std::abs(scaled - std::round(scaled)) > 1e-6)
      return bad_value("has more than three decimals");
  } else if (const std::string* text = node.text()) {
    const Result<std::uint64_t> parsed = parse_milli(*text);
    if (!parsed) return bad_quantity(*text, parsed.error());
    milli = *parsed;
  } else {
    return kWrongType;
  }
  return within_range(key, milli);
}

Read read_duration(const KeyInfo& key, const Node& node) {
  std::string text;
  if (const std::int64_t* seconds = node.integer()) {
    text = std::to_string(std::max<std::int64_t>(*seconds, 0));
  } else if (const std::string* written = node.text()) {
    text = *written;
  } else {
    return kWrongType;
  }
  const Result<std::chrono::milliseconds> parsed = parse_duration(text);
  if (!parsed) return bad_quantity(text, parsed.error());
  return within_range(key, static_cast<std::uint64_t>(parsed->count()));
}

Read read_image(const Node& node) {
  const std::string* text = node.text();
  if (text == nullptr) return kWrongType;
  constexpr std::string_view kHint =
      "write it like \"ubuntu:24.04\" or \"registry.example/name/image:tag\"";
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/:@+").find(c) != std::string_view::npos;
  };
  if (text->empty()) return bad_value("the name of an image is empty", kHint);
  // It becomes an argument of another program, where a dash starts an option.
  if (text->starts_with('-')) return bad_value(quote(*text) + " starts with a dash", kHint);
  if (text->size() > 512 || !std::ranges::all_of(*text, allowed))
    return bad_value(quote(*text) + " is not the name of an image", kHint);
  return *text;
}

Read read_hostname(const Node& node) {
  const std::string* text = node.text();
  if (text == nullptr) return kWrongType;
  if (text->empty() || is_hostname(*text)) return *text;
  return bad_value(quote(*text) + " is not a host name",
                   "letters, digits, '-' and '.', at most 63");
}

}  // namespace

Result<void> check_home_name(const std::string& text) {
  if (!is_home_name(text))
    return bad_value(quote(text) + " is not the name of a home", std::string(kHomeNames));
  // "ephemral" would be kept.
  constexpr std::array<std::string_view, 2> kWords{"ephemeral", "workspace"};
  const std::string_view near = nearest(lower(text), kWords, 2);
  if (near.empty() || near == text) return {};
  return bad_value(quote(text) + " is too like \"" + std::string(near) + "\" for a home's name",
                   "did you mean \"" + std::string(near) + "\"? else take another name");
}

namespace {

Read read_home(const Node& node) {
  const std::string* text = node.text();
  if (text == nullptr) return kWrongType;
  const Result<void> checked = check_home_name(*text);
  if (!checked) return std::unexpected(checked.error());
  return *text;
}

Read read_seconds(const Node& node) {
  const std::int64_t* number = node.integer();
  if (number == nullptr) return kWrongType;
  if (*number > kMostOffset || *number < -kMostOffset) return bad_value("too large");
  return std::to_string(*number);
}

Read read_path(const Node& node, const Surroundings& surroundings) {
  const std::string* text = node.text();
  if (text == nullptr) return kWrongType;
  Path path = TRY(expand_plain_path(*text, surroundings));
  if (!is_utf8(path)) return bad_value(quote(*text) + " is not UTF-8 with its variables put in");
  return path;
}

Read read_scalar(const KeyInfo& key, const Node& node, const Surroundings& surroundings) {
  if (key.unlimited && node.text() != nullptr && *node.text() == "unlimited") return Unlimited{};
  switch (key.type) {
    case KeyType::word: return read_word(key, node);
    case KeyType::size: return read_size(key, node);
    case KeyType::count: return read_count(key, node);
    case KeyType::cpus: return read_cpus(key, node);
    case KeyType::duration: return read_duration(key, node);
    case KeyType::text: return read_image(node);
    case KeyType::hostname: return read_hostname(node);
    case KeyType::home: return read_home(node);
    case KeyType::seconds: return read_seconds(node);
    case KeyType::path: return read_path(node, surroundings);
    case KeyType::boolean:
      return node.boolean() == nullptr ? Scalar(kWrongType) : Scalar(*node.boolean());
    default: return kWrongType;
  }
}

}  // namespace

void Reporter::error(std::string_view check, const Position& at, std::string message,
                     std::string fix) {
  const bool override = source_.shape == Shape::override;
  add_finding(findings_, Severity::error, override ? "sandbox_overrides" : check, origin(at),
              std::move(message), std::move(fix));
}

std::string example_of(const KeyInfo& key, std::string_view name) {
  std::string example(info(key.type).example);
  if (key.type == KeyType::word) example = toml_text(split_words(key.words).front());
  if (example.empty()) return std::string(kListFix);
  return "for example: " + std::string(name) + " = " + example;
}

std::string expected_of(const KeyInfo& key) {
  if (key.type == KeyType::word) return "one of " + joined(split_words(key.words), ", ");
  return std::string(info(key.type).expected);
}

void report_type(const KeyInfo& key, std::string_view name, std::string_view expected,
                 const Node& found, std::string fix, Reporter& reporter) {
  reporter.error(
      key.check, found.at,
      std::string(name) + ": expected " + std::string(expected) + ", found " + type_name(found),
      std::move(fix));
}

const List* read_list(const KeyInfo& key, std::string_view name, const Entry& entry,
                      std::string_view expected, Reporter& reporter) {
  const List* list = entry.value.list();
  if (list == nullptr) {
    report_type(key, name, expected, entry.value, std::string(kListFix), reporter);
    return nullptr;
  }
  if (list->size() <= kMostItems) return list;
  reporter.error(
      key.check, entry.value.at,
      std::string(name) + ": " + std::to_string(list->size()) + " items, at most 1000 are possible",
      "name the directory, domain or network they have in common");
  return nullptr;
}

std::optional<Setting> read_value(const KeyInfo& key, std::string_view name, const Entry& entry,
                                  Reporter& reporter) {
  if (is_list(key.key)) return read_items(key, name, entry, reporter);
  const Node& node = entry.value;
  Read read = read_scalar(key, node, reporter.source().surroundings);
  if (!read) {
    const std::string& hint = read.error().hint;
    reporter.error(key.check, node.at, std::string(name) + ": " + read.error().subject,
                   hint.empty() ? example_of(key, name) : hint);
    return std::nullopt;
  }
  if (std::holds_alternative<std::monostate>(*read)) {
    report_type(key, name, expected_of(key), node, example_of(key, name), reporter);
    return std::nullopt;
  }
  return Setting{.value = *std::move(read), .origin = reporter.origin(node.at)};
}

namespace {

Result<void> check_most(const KeyInfo& key, std::uint64_t number) {
  if (key.type == KeyType::size && number > kLargestSize) return bad_value("too large");
  if (key.type == KeyType::cpus && number > kMostMilliCpus)
    return bad_value("more processors than any machine has");
  const std::uint64_t most = key.key == Key::open_files ? kMostFiles : kMostProcesses;
  if (key.type == KeyType::count && number > most)
    return bad_value("more than any kernel allows",
                     "write at most " + std::to_string(most) + ", or \"unlimited\"");
  return {};
}

}  // namespace

Result<void> check_range(const KeyInfo& key, std::uint64_t number) {
  TRY(check_most(key, number));
  if (number >= key.least) return {};
  std::string least = value_text(key.key, Setting{.value = key.least});
  std::erase(least, '"');
  return bad_value(
      "must be at least " + least,
      key.type == KeyType::size ? "a number without a unit is bytes; write 512m or 2g" : "");
}

bool is_hostname(std::string_view text) {
  return !text.empty() && text.size() <= 63 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  });
}

std::vector<std::string_view> split_words(std::string_view words) {
  std::vector<std::string_view> result;
  for (const auto word : std::views::split(words, ' '))
    if (!word.empty()) result.emplace_back(word);
  return result;
}

std::string_view similar(std::string_view word, const std::vector<std::string_view>& known) {
  // For a short word three edits match anything: "view" is not close to "pids".
  return nearest(word, known, std::clamp<std::size_t>(word.size() / 3, 1, 3));
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view near = similar(word, known);
  if (!near.empty()) return "did you mean \"" + std::string(near) + "\"?";
  return "one of: " + joined(known, ", ");
}

}  // namespace coop::policy
