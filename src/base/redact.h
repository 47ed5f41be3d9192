// Secrets out of text that will be shown or stored.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace coop {

// Every one of `secrets`, and whatever looks like a well-known token (sk-…, ghp_…, xoxb-…, AKIA…, a PEM
// private key, a JWT, password in a URL), becomes "[redacted]".
std::string redact(std::string_view text, std::span<const std::string> secrets);

// Whether a variable of this name usually holds a secret: ANTHROPIC_API_KEY, DB_PASSWORD, GH_TOKEN.
bool names_a_secret(std::string_view variable);

}  // namespace coop
