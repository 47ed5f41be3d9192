// A workspace with traps in it, and the view of it that a sandboxed principal has.
#pragma once

#include <optional>
#include <string>

#include "tools/files/file_tools.h"
#include "unit/support/temp_tree.h"

namespace coop::test {

inline const std::string kSecret = "TOP-SECRET";

class AttackTree {
 public:
  AttackTree() {
    tree_.must(R"(
mkdir -p ws/sub ws/vault ws/readonly outside ws/.git/hooks
printf 'TOP-SECRET\n' | tee outside/secret ws/hidden ws/vault/key ws/protected > ws/.git/hooks/old
printf 'ordinary\n' | tee ws/ordinary ws/sub/inner > ws/readonly/file
printf 'TOP-SECRET soul\n' > ws/SOUL.md
ln -s "$PWD/outside/secret" ws/absolute
ln -s ../outside/secret ws/relative
ln -s absolute ws/chain1; ln -s chain1 ws/chain
ln -s ../outside ws/directory
ln -s ../../outside ws/sub/middle
ln -s hidden ws/to-hidden
ln -s vault ws/to-vault
ln -s vault/missing ws/to-nothing
ln -s SOUL.md ws/to-soul
ln -s loop ws/loop
mkdir -p ws/node_modules/packed; ln -s node_modules/packed ws/packed
ln -s /proc/self/root/etc/passwd ws/to-proc
ln -s ordinary ws/good
ln -s /work/sub/inner ws/inside
ln ws/protected ws/hardlink
mkfifo ws/fifo
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("ws/socket")'
mknod ws/device c 1 3 || ln -s /dev/null ws/device
)");
  }

  Policy policy() const {
    const auto rule = [&](RuleKind kind, const char* name, int line) {
      return PathRule{.kind = kind,
                      .path = ws() + name,
                      .origin = {Scope::user, "policy.toml", {line, 0}},
                      .reason = "a test says so"};
    };
    return Policy{.workspace = ws(),
                  .rules = {rule(RuleKind::hide, "/hidden", 3), rule(RuleKind::hide, "/vault", 3),
                            rule(RuleKind::protect, "/protected", 4),
                            rule(RuleKind::read_only, "/readonly", 5)}};
  }

  Path ws() const { return tree_ / "ws"; }
  const TempTree& tree() const { return tree_; }

  // Every file that nothing may change, in one text.
  std::string precious() const {
    std::string text;
    for (const char* const name : {"outside/secret", "ws/hidden", "ws/vault/key", "ws/protected",
                                   "ws/.git/hooks/old", "ws/readonly/file", "ws/SOUL.md"})
      text += std::string(name) + "=" + read_text(tree_ / name);
    return text;
  }

 private:
  TempTree tree_;
};

}  // namespace coop::test
