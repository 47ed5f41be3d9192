#include "policy/settings/expand.h"

#include <algorithm>
#include <ranges>

#include "base/path.h"
#include "base/wildcard.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

constexpr std::size_t kLongestPath = 4096;
constexpr std::string_view kOperation = "path";

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || (c >= '0' && c <= '9'); }

// Takes "NAME" or "{NAME}", which follow a "$", from the front of `rest`.
std::optional<std::string_view> take_name(std::string_view& rest) {
  const bool braced = rest.starts_with('{');
  std::string_view name = rest.substr(braced ? 1 : 0);
  if (name.empty() || !starts_name(name.front())) return std::nullopt;
  const auto end = std::ranges::find_if_not(name, continues_name);
  name = name.substr(0, static_cast<std::size_t>(end - name.begin()));
  const std::size_t used = name.size() + (braced ? 1 : 0);
  if (braced && !rest.substr(used).starts_with('}')) return std::nullopt;
  rest.remove_prefix(used + (braced ? 1 : 0));
  return name;
}

class Expansion {
 public:
  Expansion(std::string_view text, const Surroundings& surroundings)
      : text_(text), surroundings_(surroundings) {}

  // With "~", variables and the base expanded, not normalised yet.
  Result<std::string> run() {
    if (text_.empty()) return invalid(kOperation, "a path is empty", "write a path or remove it");
    std::string_view rest = text_;
    TRY(take_home(rest));
    while (!rest.empty()) {
      TRY(take_part(rest));
      // Check before the next part is added: "$A$A$A…" must not exhaust memory.
      if (result_.size() > kLongestPath) return bad(" is longer than 4096 bytes");
    }
    TRY(put_base_in_front());
    TRY(check());
    return std::move(result_);
  }

  // Whether an expanded value, unlike the literal text, contains characters that could be
  // wildcards.
  bool put_in_wildcards() const { return put_in_wildcards_; }

 private:
  std::unexpected<Error> bad(const std::string& why, std::string_view hint = {}) const {
    return invalid(kOperation, quote(text_) + why, hint);
  }

  void put_in(std::string_view value) {
    put_in_wildcards_ = put_in_wildcards_ || has_wildcard(value);
    result_ += value;
  }

  Result<void> take_home(std::string_view& rest) {
    if (!rest.starts_with('~')) return {};
    rest.remove_prefix(1);
    if (!rest.empty() && !rest.starts_with('/'))
      return bad(": only your own home can be written as \"~\"",
                 "write the whole path, or \"./~…\" for a name that starts with \"~\"");
    if (!surroundings_.home.starts_with('/'))
      return bad(": there is no home directory", "set HOME or write the whole path");
    put_in(surroundings_.home);
    return {};
  }

  Result<void> take_part(std::string_view& rest) {
    const std::size_t plain = std::min(rest.find('$'), rest.size());
    take_plain(rest.substr(0, plain));
    rest.remove_prefix(plain);
    if (rest.empty()) return {};
    rest.remove_prefix(1);
    if (rest.starts_with('$')) {
      rest.remove_prefix(1);
      result_ += '$';
      return {};
    }
    const std::optional<std::string_view> name = take_name(rest);
    if (!name)
      return bad(": \"$\" without the name of a variable",
                 "write $NAME or ${NAME}, or \"$$\" for a dollar sign");
    const auto found = surroundings_.environment.find(std::string(*name));
    // Otherwise "$PROJECT/secrets" would mean "/secrets", and "$CACHE" the whole base directory.
    if (found == surroundings_.environment.end() || found->second.empty())
      return bad(": $" + shortened(*name) +
                     (found == surroundings_.environment.end() ? " is not set" : " is empty"),
                 "set the variable or write the path itself");
    // "!a" or "-z" become wildcards within brackets: "[$SET]".
    put_in_wildcards_ = put_in_wildcards_ || after_bracket_;
    put_in(found->second);
    return {};
  }

  void take_plain(std::string_view written) {
    for (const char c : written) {
      if (c == '[') after_bracket_ = true;
      if (c == '/') after_bracket_ = false;
    }
    result_ += written;
  }

  Result<void> put_base_in_front() {
    if (result_.starts_with('/')) return {};
    if (!surroundings_.base.starts_with('/'))
      return bad(" is a relative path, which only a project's policy and coop.toml may use",
                 "start it with \"/\" or \"~/\"");
    put_in_wildcards_ = put_in_wildcards_ || has_wildcard(surroundings_.base);
    result_ = surroundings_.base + "/" + result_;
    return {};
  }

  Result<void> check() const {
    if (result_.size() > kLongestPath) return bad(" is longer than 4096 bytes");
    if (result_.find('\0') != std::string::npos) return bad(" has a NUL character in it");
    // Removing ".." textually gives another directory than the kernel's if a symlink precedes it.
    if (("/" + result_ + "/").find("/../") != std::string::npos)
      return bad(" has \"..\" in it", "write the directory it leads to");
    return {};
  }

  std::string_view text_;
  const Surroundings& surroundings_;
  std::string result_{};
  bool put_in_wildcards_ = false;
  bool after_bracket_ = false;  // in this component of the path
};

Result<void> check_wildcards(std::string_view text) {
  for (const auto component : std::views::split(text, '/'))
    if (const Result<void> checked = check_wildcard(std::string_view(component)); !checked)
      return invalid(kOperation, quote(text) + " " + checked.error().subject, checked.error().hint);
  return {};
}

}  // namespace

Result<ExpandedPath> expand_path(std::string_view text, const Surroundings& surroundings) {
  const bool optional = text.ends_with('?');
  if (optional) text.remove_suffix(1);
  Expansion expansion(text, surroundings);
  const std::string path = TRY(expansion.run());
  ExpandedPath expanded{.path = normalize(path), .pattern = has_wildcard(text)};
  if (optional) expanded.if_missing = Missing::skip;
  if (!expanded.pattern) return expanded;
  TRY(check_wildcards(text));
  if (expansion.put_in_wildcards())
    return invalid(kOperation,
                   quote(text) + " has wildcards, and so has what it starts from or puts in",
                   "write the whole path");
  return expanded;
}

Result<Path> expand_plain_path(std::string_view text, const Surroundings& surroundings) {
  const std::string path = TRY(Expansion(text, surroundings).run());
  return normalize(path);
}

}  // namespace coop::policy
