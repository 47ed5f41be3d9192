// URLs: an accepted one has a valid host, prints as it is read, and redirects resolve within the
// same rules.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/address.h"
#include "policy/destinations/forbidden_addresses.h"
#include "tools/web/urls.h"

namespace {

using namespace coop::tools;

bool is_clean(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

void check_url(const Url& url) {
  constexpr std::string_view kHost = "abcdefghijklmnopqrstuvwxyz0123456789-.:";
  if (url.scheme != "http" && url.scheme != "https") std::abort();
  if (url.host.empty() || url.host.find_first_not_of(kHost) != std::string::npos) std::abort();
  if (url.host.ends_with('.') || url.host.find("..") != std::string::npos) std::abort();
  // Without a rule such a name is not asked for.
  if (check_public_name(url.host) && !url.host.contains('.')) std::abort();
  if (url.port == 0 || !url.target.starts_with('/') || !is_clean(url.target)) std::abort();
  if (url.target.find_first_of("#\\") != std::string::npos) std::abort();
  // What looks like an address is one.
  const char last = url.host.substr(url.host.rfind('.') + 1).front();
  if (last >= '0' && last <= '9' && !coop::address_bytes(url.host)) std::abort();
  const auto again = parse_url(to_text(url));
  if (!again || *again != url) std::abort();
}

void check_error(const coop::Error& error) {
  if (error.operation != "url guard" || error.subject.empty()) std::abort();
  if (error.subject.size() > 2000) std::abort();
  for (const char c : to_text(error) + error.hint)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto url = parse_url(text);
  if (url) check_url(*url);
  else check_error(url.error());

  static const Url kBase = parse_url("https://a.example:8443/b/c?d").value();
  const auto next = resolve_reference(kBase, text);
  if (next) check_url(*next);
  else check_error(next.error());
  if (const auto bytes = coop::address_bytes(text))
    (void)coop::policy::forbidden(coop::prefix_of(*bytes));
  return 0;
}
