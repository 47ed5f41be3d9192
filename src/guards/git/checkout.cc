#include "guards/git/checkout.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "guards/git/directory.h"
#include "guards/git/outside.h"
#include "guards/trail.h"

namespace coop::guards {

namespace {

constexpr std::string_view kGitFile = "/.git";

struct Checkout {
  std::string text{};
  Path place{};          // of its directory, without symlinks
  bool by_link = false;  // a symlink in one of the trees is on the way there
};

std::optional<Checkout> read_checkout(int git, const std::string& name,
                                      const std::vector<Path>& trees) {
  const std::optional<std::string> text = read_small(git, name);
  const std::optional<std::string> pointer = text ? parse_pointer(*text) : std::nullopt;
  if (!pointer) return std::nullopt;
  const Path here = read_link(AT_FDCWD, "/proc/thread-self/fd/" + std::to_string(git));
  if (!pointer->starts_with('/') && !here.starts_with('/')) return std::nullopt;
  std::string top = pointer->starts_with('/') ? *pointer : here + "/" + *pointer;
  if (top.ends_with(kGitFile)) top.resize(top.size() - kGitFile.size());
  // With the trees: in them the sandbox can make what no call of ours could look at by its path.
  Trail trail = follow_trail(top.empty() ? "/" : top, trees);
  const bool by_link = std::ranges::any_of(
      trail.links, [&](const TrailLink& link) { return tree_of(link.path, trees) != nullptr; });
  return Checkout{*pointer, std::move(trail.place), by_link};
}

// Git before 2.48 takes a relative path from its own current directory; it refuses a repository with this extension.
bool has_relative_worktrees(int git) {
  const std::optional<std::string> pointer = read_small(git, "commondir");
  const std::optional<std::string> common = pointer ? parse_pointer(*pointer) : std::nullopt;
  const std::optional<std::string> settings =
      common ? read_small(git, join(*common, "config")) : std::nullopt;
  return settings && config_value(*settings, "core", "repositoryformatversion") == "1" &&
         config_value(*settings, "extensions", "relativeworktrees") == "true";
}

std::string as_text(const Checkout& checkout) { return checkout.text + '\0' + checkout.place; }

std::string_view text_in(std::string_view said) { return said.substr(0, said.find('\0')); }

}  // namespace

bool is_checkout_pointer(std::string_view guard) { return guard == ".git/gitdir"; }

std::optional<std::string> checkout_named_by(int git, const std::string& name) {
  const std::optional<Checkout> checkout = read_checkout(git, name, {});
  return checkout ? std::optional(as_text(*checkout)) : std::nullopt;
}

bool says_the_same(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  return left.size() == 1 && right.size() == 1 && text_in(left.front()) == text_in(right.front());
}

std::optional<std::string> danger_of_checkout(int git, const std::string& name,
                                              const std::vector<std::string>* before,
                                              const std::vector<Path>& trees) {
  const std::optional<Checkout> checkout = read_checkout(git, name, trees);
  if (!checkout) return "its contents cannot be judged";
  if (before != nullptr && contains(*before, as_text(*checkout))) return std::nullopt;
  // The same text leads elsewhere now, and nothing on the way is the sandbox's: the user has moved the checkout.
  if (before != nullptr && before->size() == 1 && text_in(before->front()) == checkout->text &&
      !checkout->by_link)
    return std::nullopt;
  const std::string shown = "\"" + printable(checkout->text.substr(0, 100)) + "\"";
  if (!checkout->text.ends_with(kGitFile)) return shown + " is not the path of a .git file";
  if (!checkout->text.starts_with('/') && !has_relative_worktrees(git))
    return shown + " is relative, and git before 2.48 looks for it elsewhere";
  if (!checkout->place.empty() && tree_of(checkout->place, trees) != nullptr) return std::nullopt;
  return "it names " + shown +
         ", which is not in a writable tree: \"git worktree repair\" would write that file";
}

}  // namespace coop::guards
