// Secrets in text on its way to or from a tool.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coop::tools {

enum class Encoding : std::uint8_t { plain, url, base64, hex };
std::string_view to_text(Encoding encoding);

struct Leak {
  std::string name{};    // "anthropic-key", or "environment: GH_TOKEN"
  std::string reason{};  // "gives access to …"
  Encoding encoding = Encoding::plain;
  std::size_t begin = 0;  // in the text that was scanned: of the encoded form
  std::size_t end = 0;
  bool operator==(const Leak&) const = default;
};

// Finds what policies/leaks.txt describes, in plain text and in URL-encoded, base64 (standard and
// URL-safe, with or without padding) and hexadecimal forms, and exact values it was given.
class LeakScanner {
 public:
  // `known`: values that must never appear, by name (variables of the environment that hold
  // secrets). Those under 8 bytes are not taken.
  struct Known {
    std::string name{};
    std::string value{};
  };
  static Result<LeakScanner> create(std::span<const Known> known = {});

  LeakScanner(LeakScanner&&) noexcept;
  LeakScanner& operator=(LeakScanner&&) noexcept;
  ~LeakScanner();

  // Sorted by place; overlapping ones are joined under the first name. Many threads may call at once.
  // A text that cannot be looked at (no memory, over 2 GiB) is one leak, "not-scanned".
  std::vector<Leak> find(std::string_view text) const;

  // The longest of the known values that have a line break in them; 0 when none has.
  std::size_t longest_over_lines() const;

  struct State;

 private:
  explicit LeakScanner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The text with each leak as "[redacted: NAME]".
std::string redacted(std::string_view text, std::span<const Leak> leaks);

// Text that arrives in pieces: a secret cut in two is found. Text is given out, in whole lines, once
// nothing that is still to come can make a secret of it. Of a line without end the last 64 KB are held.
class LeakStream {
 public:
  explicit LeakStream(const LeakScanner& scanner);
  // What may be passed on now, redacted.
  std::string feed(std::string_view piece);
  // The rest, at the end of the text.
  std::string finish();
  const std::vector<Leak>& found() const { return found_; }  // places count from the beginning

 private:
  std::string give_out(std::size_t size, std::vector<Leak> leaks);

  const LeakScanner& scanner_;
  std::string held_{};
  std::size_t passed_ = 0;
  std::size_t look_at_ = 0;  // how much must be held before it is worth looking again
  std::vector<Leak> found_{};
};

}  // namespace coop::tools
