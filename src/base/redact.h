// Removes secrets from text that will be shown or stored.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace coop {

// Replaces each of `secrets`, and everything that looks like a well-known token (sk-…, ghp_…,
// xoxb-…, AKIA…, a PEM private key, a JWT, a password in a URL), by "[redacted]".
std::string redact(std::string_view text, std::span<const std::string> secrets);

// Whether a variable of this name usually holds a secret: ANTHROPIC_API_KEY, DB_PASSWORD, GH_TOKEN.
bool names_a_secret(std::string_view variable);

}  // namespace coop
