// Finds secrets in text on its way to or from a tool.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coop::leaks {

enum class Encoding : std::uint8_t { plain, url, base64, hex };
std::string_view to_text(Encoding encoding);

struct Leak {
  std::string name{};    // "anthropic-key", or "environment: GH_TOKEN"
  std::string reason{};  // "gives access to …"
  Encoding encoding = Encoding::plain;
  std::size_t begin = 0;  // position in the scanned text, of the encoded form
  std::size_t end = 0;
  bool operator==(const Leak&) const = default;
};

// Finds the patterns of policies/leaks.txt in plain text and in URL-encoded, base64 (standard and
// URL-safe, with or without padding) and hexadecimal form, and exact known values.
class LeakScanner {
 public:
  // `known`: values that must never appear, by name (environment variables that hold secrets).
  // Values under 8 bytes are ignored.
  struct Known {
    std::string name{};
    std::string value{};
  };
  static Result<LeakScanner> create(std::span<const Known> known = {});

  LeakScanner(LeakScanner&&) noexcept;
  LeakScanner& operator=(LeakScanner&&) noexcept;
  ~LeakScanner();

  // Sorted by position; overlapping ones are joined under the first name. Thread-safe. A text that
  // cannot be scanned (out of memory, over 2 GiB) is one leak, "not-scanned".
  std::vector<Leak> find(std::string_view text) const;

  // The length of the longest known value that contains a line break; 0 if there is none.
  std::size_t longest_over_lines() const;

  struct State;

 private:
  explicit LeakScanner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Returns the text with each leak replaced by "[redacted: NAME]".
std::string redacted(std::string_view text, std::span<const Leak> leaks);

// Scans a stream: finds a secret that is split over two pieces. Releases text in whole lines, once
// no later text can make it part of a secret. Holds back the last 64 KB of an unterminated line.
class LeakStream {
 public:
  explicit LeakStream(const LeakScanner& scanner);
  // Returns the redacted text that can be released now.
  std::string feed(std::string_view piece);
  // Returns the rest, at the end of the stream.
  std::string finish();
  const std::vector<Leak>& found() const { return found_; }  // by position in the stream

 private:
  std::string give_out(std::size_t size, std::vector<Leak> leaks);

  const LeakScanner& scanner_;
  std::string held_{};
  std::size_t passed_ = 0;
  std::size_t look_at_ = 0;  // held size at which to scan again
  std::vector<Leak> found_{};
};

}  // namespace coop::leaks
