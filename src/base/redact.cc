#include "base/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace coop {

namespace {

constexpr std::string_view kRedacted = "[redacted]";
constexpr std::size_t kNone = std::string_view::npos;

// A part of a text that must not be shown.
struct Found {
  std::size_t start;
  std::size_t end;
};
using Parts = std::vector<Found>;

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_token_character(char c) { return is_letter_or_digit(c) || c == '_' || c == '-'; }

std::size_t end_of_token(std::string_view text, std::size_t start) {
  while (start < text.size() && is_token_character(text[start])) ++start;
  return start;
}

void find_secrets(std::string_view text, std::span<const std::string> secrets, Parts& parts) {
  for (const std::string& secret : secrets) {
    if (secret.empty()) continue;
    // The next match may overlap this one: "aba" in "ababa".
    for (std::size_t at = text.find(secret); at != kNone; at = text.find(secret, at + 1))
      parts.push_back({at, at + secret.size()});
  }
}

struct TokenKind {
  std::string_view prefix;
  std::size_t least;  // characters after the prefix
};

constexpr std::array kTokens{
    TokenKind{"sk-", 20},       // OpenAI, Anthropic, OpenRouter, Stripe's newer ones
    TokenKind{"sk_live_", 16},  // Stripe
    TokenKind{"ghp_", 20},     TokenKind{"gho_", 20},  TokenKind{"ghu_", 20},
    TokenKind{"ghs_", 20},     TokenKind{"ghr_", 20},  TokenKind{"github_pat_", 20},
    TokenKind{"glpat-", 20},   TokenKind{"xoxb-", 10}, TokenKind{"xoxp-", 10},
    TokenKind{"xoxa-", 10},    TokenKind{"xoxr-", 10}, TokenKind{"xoxs-", 10},
    TokenKind{"xapp-", 10},    TokenKind{"AKIA", 16},  TokenKind{"ASIA", 16},
    TokenKind{"AIza", 30},     TokenKind{"hf_", 30},   TokenKind{"npm_", 30},
};

void find_tokens(std::string_view text, Parts& parts) {
  for (const TokenKind& kind : kTokens) {
    for (std::size_t at = text.find(kind.prefix); at != kNone;) {
      const std::size_t end = end_of_token(text, at);
      const bool own_word = at == 0 || !is_letter_or_digit(text[at - 1]);  // not "task-…"
      if (own_word && end - at >= kind.prefix.size() + kind.least) {
        parts.push_back({at, end});
        at = end;
      } else {
        ++at;
      }
      at = text.find(kind.prefix, at);
    }
  }
}

// Three groups of base64 with dots between; the first is JSON, which always begins with {".
void find_jwts(std::string_view text, Parts& parts) {
  for (std::size_t at = text.find("eyJ"); at != kNone;) {
    const std::size_t first = end_of_token(text, at);
    const bool dotted = text.substr(first).starts_with(".eyJ");
    const std::size_t second = dotted ? end_of_token(text, first + 1) : first;
    const bool is_jwt = dotted && text.substr(second).starts_with('.');
    const std::size_t end = is_jwt ? end_of_token(text, second + 1) : second;
    if (is_jwt) parts.push_back({at, end});
    at = text.find("eyJ", end);
  }
}

void find_private_keys(std::string_view text, Parts& parts) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kEnd = "-----END ";
  constexpr std::string_view kKind = "PRIVATE KEY";
  for (std::size_t at = text.find(kBegin); at != kNone;) {
    const std::size_t label = at + kBegin.size();
    const std::size_t dashes = std::min(text.find("-----", label), text.size());
    if (!text.substr(label, dashes - label).contains(kKind)) {
      at = text.find(kBegin, label);
      continue;
    }
    // A key without an END line is a secret too.
    std::size_t end = text.find(kEnd, dashes);
    if (end != kNone) end = text.find("-----", end + kEnd.size());
    end = end == kNone ? text.size() : end + 5;
    parts.push_back({at, end});
    at = text.find(kBegin, end);
  }
}

// scheme://user:password@host
void find_url_passwords(std::string_view text, Parts& parts) {
  for (std::size_t at = text.find("://"); at != kNone; at = text.find("://", at + 3)) {
    const std::size_t start = at + 3;
    const std::size_t end = std::min(text.find_first_of("/?# \t\r\n\"'<>`", start), text.size());
    const std::string_view authority = text.substr(start, end - start);
    const std::size_t sign = authority.rfind('@');
    const std::size_t colon = authority.find(':');
    if (sign == kNone || colon == kNone || colon + 1 >= sign) continue;
    parts.push_back({start + colon + 1, start + sign});
  }
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("_-.", start), name.size());
    if (end > start) words.push_back(name.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

}  // namespace

std::string redact(std::string_view text, std::span<const std::string> secrets) {
  Parts parts;
  find_secrets(text, secrets, parts);
  find_tokens(text, parts);
  find_jwts(text, parts);
  find_private_keys(text, parts);
  find_url_passwords(text, parts);

  // Search the original text for all secrets and join overlapping ones. Replacing them one after
  // the other would split a secret that contains another, and show the rest of it.
  std::ranges::sort(parts, {}, &Found::start);
  std::string result;
  std::size_t shown = 0;
  for (auto part = parts.begin(); part != parts.end();) {
    result += text.substr(shown, part->start - shown);
    result += kRedacted;
    shown = part->end;
    for (++part; part != parts.end() && part->start < shown; ++part)
      shown = std::max(shown, part->end);
  }
  result += text.substr(shown);
  return result;
}

bool names_a_secret(std::string_view variable) {
  constexpr std::array<std::string_view, 4> kPlaces{"FILE", "PATH", "DIR", "SOCK"};
  constexpr std::array<std::string_view, 12> kEndings{
      "TOKEN",      "SECRET",     "SECRETS",     "PASSWORD", "PASSWD",    "APIKEY",
      "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "PASSCODE", "SECRETKEY", "WEBHOOK"};
  constexpr std::array<std::string_view, 10> kWords{"PASS", "AUTH", "COOKIE", "PAT", "DSN",
                                                    "PWD",  "KEY",  "SALT",   "JWT", "BEARER"};
  constexpr std::array<std::string_view, 3> kAlone{"AUTH", "JWT", "BEARER"};

  const std::string name = upper(variable);
  const std::vector<std::string_view> words = words_of(name);
  if (words.empty()) return false;
  // SSH_AUTH_SOCK and TOKEN_FILE hold paths, not secrets.
  if (words.size() > 1 && std::ranges::find(kPlaces, words.back()) != kPlaces.end()) return false;
  for (const std::string_view word : words) {
    const auto ends = [&](std::string_view ending) { return word.ends_with(ending); };
    if (std::ranges::any_of(kEndings, ends)) return true;
    // PWD alone is a directory.
    if (words.size() > 1 && std::ranges::find(kWords, word) != kWords.end()) {
      const bool of_a_pair = word == "KEY" && std::ranges::find(words, "PUBLIC") != words.end();
      if (!of_a_pair) return true;
    }
  }
  // SECRETKEYBASE: words without separators.
  return name.contains("SECRET") || name.contains("PASSWORD") ||
         std::ranges::find(kAlone, name) != kAlone.end();
}

}  // namespace coop
