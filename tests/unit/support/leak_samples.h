// Made-up secrets of every kind, and their encodings. None stands in the source as a whole: scanners of
// hosting sites would take it for a real one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coop::leaks {

struct LeakSample {
  std::string name{};
  std::string text{};
};

inline constexpr std::string_view kAlphanumeric =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
inline constexpr std::string_view kWordCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
inline constexpr std::string_view kUpperAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
inline constexpr std::string_view kDecimal = "0123456789";
inline constexpr std::string_view kLowerHex = "0123456789abcdef";
inline constexpr std::string_view kStandardBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The same in every run.
class SampleSource {
 public:
  explicit SampleSource(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::size_t number(std::size_t below) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33U) % below;
  }
  std::string of(std::string_view alphabet, std::size_t count) {
    std::string text;
    while (text.size() < count) text += alphabet[number(alphabet.size())];
    return text;
  }

 private:
  std::uint64_t state_;
};

inline std::string base64_of(std::string_view bytes, std::string_view last_two = "+/",
                             std::string_view padding = "=") {
  std::string text;
  for (std::size_t index = 0; index < bytes.size(); index += 3) {
    std::uint32_t word = 0;
    for (std::size_t byte = 0; byte < 3; ++byte)
      word = word << 8U |
             (index + byte < bytes.size() ? static_cast<unsigned char>(bytes[index + byte]) : 0U);
    const std::size_t digits = std::min<std::size_t>(bytes.size() - index, 3) + 1;
    for (std::size_t digit = 0; digit < 4; ++digit) {
      const std::uint32_t value = word >> (18 - 6 * digit) & 63U;
      if (digit >= digits) text += padding;
      else text += value < 62 ? kStandardBase64[value] : last_two[value - 62];
    }
  }
  return text;
}

inline std::string hex_of(std::string_view bytes, std::string_view digits = kLowerHex,
                          std::string_view before = "", std::string_view between = "") {
  std::string text;
  for (const char c : bytes) {
    text += text.empty() ? "" : between;
    text += before;
    text += digits[static_cast<unsigned char>(c) >> 4U];
    text += digits[static_cast<unsigned char>(c) & 15U];
  }
  return text;
}

enum class Escape : std::uint8_t { everything, specials };

inline std::string url_of(std::string_view bytes, Escape escape) {
  std::string text;
  for (const char c : bytes) {
    const bool special = kWordCharacters.find(c) == std::string_view::npos && c != '.' && c != '~';
    if (special || escape == Escape::everything)
      text += hex_of(std::string_view(&c, 1), "0123456789ABCDEF", "%");
    else text += c;
  }
  return text;
}

inline std::string pem_of(SampleSource& source, std::string_view kind, std::size_t lines) {
  const std::string key = std::string(kind) + "PRIVATE" + " KEY-----";
  std::string text = "-----BEGIN " + key + "\n";
  for (std::size_t line = 0; line < lines; ++line) text += source.of(kStandardBase64, 64) + "\n";
  return text + "-----END " + key;
}

inline std::string digits_in_base64(SampleSource& source, std::size_t count) {
  return base64_of(source.of(kDecimal, count), "-_", "");
}

// One of each kind.
inline std::vector<LeakSample> leak_samples_of(std::uint64_t seed) {
  SampleSource source(seed);
  const std::string dash = "-";
  const auto words = [&](std::size_t count) { return source.of(kWordCharacters, count); };
  const auto letters = [&](std::size_t count) { return source.of(kAlphanumeric, count); };
  const auto upper = [&](std::size_t count) { return source.of(kUpperAndDigits, count); };
  const auto decimal = [&](std::size_t count) { return "1" + source.of(kDecimal, count - 1); };
  std::vector<LeakSample> samples{
      {"openai-key", "sk" + dash + letters(48)},
      {"openai-key", "sk" + dash + letters(20) + "T3Blbk" + "FJ" + letters(20)},
      {"openai-key", "sk" + dash + "proj-" + words(124)},
      {"openai-key", "sk" + dash + "svcacct-" + words(60)},
      {"anthropic-key", "sk" + dash + "ant-api03-" + words(93) + "AA"},
      {"anthropic-key", "sk" + dash + "ant-oat01-" + words(80)},
      {"openrouter-key", "sk" + dash + "or-v1-" + source.of(kLowerHex, 64)},
      {"private-key", pem_of(source, "", 3)},
      {"private-key", pem_of(source, "RSA ", 25)},
      {"private-key", pem_of(source, "OPENSSH ", 6)},
      {"github-token", std::string("gh") + "pousr"[source.number(5)] + "_" + letters(36)},
      {"github-token", "github" + std::string("_pat_") + letters(22) + "_" + letters(59)},
      {"gitlab-token", "gl" + std::string("pat-") + words(20)},
      {"google-api-key", "AI" + std::string("za") + words(35)},
      {"google-oauth-token", "ya" + std::string("29.") + words(60)},
      {"discord-bot-token",
       digits_in_base64(source, 17 + source.number(3)) + "." + words(6) + "." + words(38)},
      {"slack-token",
       "xo" + std::string("xb-") + decimal(12) + "-" + decimal(12) + "-" + letters(24)},
      {"slack-token", "xa" + std::string("pp-1-A") + upper(10) + "-" + decimal(13) + "-" +
                          source.of(kLowerHex, 64)},
      {"slack-webhook", "hooks.slack" + std::string(".com/services/T") + upper(8) + "/B" +
                            upper(10) + "/" + letters(24)},
      {"telegram-bot-token", decimal(10) + ":A" + "A" + words(33)},
      {"brave-key", "BS" + std::string("A") + words(28)},
      {"aws-key-id", "AK" + std::string("IA") + upper(16)},
      {"aws-key-id", "AS" + std::string("IA") + upper(16)},
      {"aws-secret-key",
       "aws_secret" + std::string("_access_key = ") + source.of(kStandardBase64, 40)},
      {"aws-secret-key",
       "\"Secret" + std::string("AccessKey\": \"") + source.of(kStandardBase64, 40)},
      {"jwt", "ey" + std::string("J") + letters(33) + ".ey" + "J" + words(70) + "." + words(43)},
      {"npm-token", "np" + std::string("m_") + letters(36)},
      {"pypi-token", "py" + std::string("pi-AgEI") + words(120)},
      {"stripe-key", std::string(1, "sr"[source.number(2)]) + "k_li" + "ve_" + letters(24)},
      {"sendgrid-key", "S" + std::string("G.") + words(22) + "." + words(43)},
      {"huggingface-token", "h" + std::string("f_") + letters(34)},
      {"digitalocean-token", "do" + std::string("p_v1_") + source.of(kLowerHex, 64)},
      {"azure-storage-key",
       "Account" + std::string("Key=") + source.of(kStandardBase64, 86) + "=="},
      {"url-password", "postgres:" + std::string("//ann:") + letters(6 + source.number(12))},
  };
  // The quote in front of the name belongs to no secret; the host behind the password must be there.
  for (LeakSample& sample : samples)
    if (sample.text.starts_with('"')) sample.text.erase(0, 1);
  return samples;
}

// What must stand behind a sample for it to be one.
inline std::string_view after(const LeakSample& sample) {
  return sample.name == "url-password" ? "@host" : "";
}

}  // namespace coop::leaks
