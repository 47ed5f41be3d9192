// A policy as JSON: any bytes become settings or errors.
#include <string_view>

#include "policy/settings/json_document.h"
#include "policy/settings/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace coop::policy;  // NOLINT(google-build-using-namespace)
  using coop::Scope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const coop::Result<Table> table = parse_json_document(text, "policy");
  if (!table) return 0;
  Findings findings;
  static_cast<void>(read_settings(
      *table, {.file = "policy", .scope = Scope::program, .shape = Shape::config}, findings));
  return 0;
}
