// Who commits: git inside gets the user's name, address and aliases, and nothing else of the host's configuration.
#include "plan/view/layout.h"

namespace coop::plan {

namespace {

std::string quoted_value(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) >= ' ') text += c;
  }
  return text + "\"";
}

std::string identity_file(const GitIdentity& identity) {
  std::string text;
  if (!identity.name.empty() || !identity.email.empty()) text += "[user]\n";
  if (!identity.name.empty()) text += "\tname = " + quoted_value(identity.name) + "\n";
  if (!identity.email.empty()) text += "\temail = " + quoted_value(identity.email) + "\n";
  if (!identity.aliases.empty()) text += "[alias]\n";
  for (const GitAlias& alias : identity.aliases)
    text += "\t" + alias.name + " = " + quoted_value(alias.value) + "\n";
  return text;
}

}  // namespace

void add_git_identity(std::vector<Entry>& entries, const Path& file, const GitIdentity& identity,
                      const Origin& origin, Access access) {
  if (identity == GitIdentity{}) return;
  entries.push_back(Entry{.kind = Entry::Kind::file,
                          .target = file,
                          .flags = {.access = access},
                          .text = identity_file(identity),
                          .origin = origin,
                          .why = "who commits; the host's own may hold tokens"});
}

}  // namespace coop::plan
