// A git directory of the host as the sandbox gets it: everything passes through, except that guarded names are
// read-only. The rules are applied to names at each call, so that they hold whatever the host's git renames meanwhile,
// which a mount on the guarded file would not survive.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "guards/git/touched_files.h"
#include "guards/served/drafts.h"
#include "guards/served/node_table.h"
#include "guards/served/refusals.h"
#include "sys/fd.h"
#include "sys/fuse/file_system.h"

namespace coop::guards {

// The one id of the host that exists inside.
struct ServedIds {
  std::uint32_t host_uid = 0, host_gid = 0, inside_uid = 0, inside_gid = 0;
};

using Inode = std::pair<std::uint64_t, std::uint64_t>;                         // device, number
using BornDirectory = std::tuple<std::uint64_t, std::uint64_t, std::int64_t>;  // with its birth

// What was found before the run.
struct KnownFiles {
  std::set<Inode> git{};  // git directories: submodules and worktrees
  std::set<Inode>
      linked{};  // guarded files with several hard links: read-only under each of their names
  std::set<BornDirectory> made{};  // git directories that earlier sandboxes made
  // What a rule hides, by directory and name. A mount covers it too, but the kernel detaches mounts from a name that
  // could not be looked up, for which a sandbox can see to it.
  std::set<std::pair<Inode, std::string>> hidden{};
};

// Used by one thread, which has a umask of 0 of its own.
class GitFiles : public fuse::FileSystem {
 public:
  static Result<std::unique_ptr<GitFiles>> open(const Path& directory, GuardNames names,
                                                ServedIds ids, KnownFiles known, Refusals& refusals,
                                                TouchedFiles& touched);

  fuse::Answer<fuse::Found> look_up(fuse::NewName at) override;
  void forget(fuse::Node node, std::uint64_t count) override;
  fuse::Answer<fuse_attr> attributes(fuse::Node node) override;
  fuse::Answer<fuse_attr> set_attributes(fuse::Node node, const fuse_setattr_in& wanted) override;
  fuse::Answer<std::string> read_link(fuse::Node node) override;
  fuse::Answer<fuse::Found> make_symlink(fuse::NewName at, const std::string& text) override;
  fuse::Answer<fuse::Found> make_node(fuse::NewName at, std::uint32_t mode) override;
  fuse::Answer<fuse::Found> make_directory(fuse::NewName at, std::uint32_t mode) override;
  fuse::Answer<void> remove(fuse::NewName at, int flags) override;
  fuse::Answer<void> rename(fuse::NewName from, fuse::NewName to, std::uint32_t flags) override;
  fuse::Answer<fuse::Found> link(fuse::Node node, fuse::NewName at) override;
  fuse::Answer<fuse::Opened> open(fuse::Node node, std::uint32_t flags) override;
  fuse::Answer<std::pair<fuse::Found, fuse::Opened>> create(fuse::NewName at, std::uint32_t flags,
                                                            std::uint32_t mode) override;
  fuse::Answer<std::size_t> read(fuse::Handle handle, std::uint64_t offset,
                                 std::span<std::byte> buffer) override;
  fuse::Answer<std::size_t> write(fuse::Handle handle, std::uint64_t offset,
                                  std::span<const std::byte> data) override;
  fuse::Answer<void> sync(fuse::Handle handle) override;
  void release(fuse::Handle handle) override;
  fuse::Answer<fuse::Opened> open_directory(fuse::Node node) override;
  fuse::Answer<void> read_directory(fuse::Handle handle, std::uint64_t offset,
                                    fuse::EntrySink& sink) override;
  fuse::Answer<fuse_kstatfs> statistics(fuse::Node node) override;

 private:
  GitFiles(GitRules rules, ServedIds ids, KnownFiles known, Refusals& refusals,
           TouchedFiles& touched)
      : rules_(std::move(rules)),
        ids_(ids),
        known_(std::move(known)),
        refusals_(refusals),
        touched_(touched),
        made_(known_.made) {}

  // The directory in which a name may be made, changed or removed.
  fuse::Answer<ServedNode*> writable_parent(fuse::NewName at);
  std::unexpected<int> refuse(std::string_view guard, int fd, std::string_view name = {});
  fuse::Answer<fuse::Found> look_up_lock();
  fuse::Answer<fuse::Found> look_up_draft(UniqueFd fd);
  fuse::Answer<std::pair<fuse::Found, fuse::Opened>> create_draft(const ServedNode& parent,
                                                                  fuse::NewName at,
                                                                  std::uint32_t mode);
  fuse::Answer<void> rename_draft(const ServedNode& parent, fuse::NewName from, fuse::NewName to,
                                  std::uint32_t flags);
  ServedPlace place_of(const ServedPlace& parent, std::string_view name, int fd,
                       const struct stat& status) const;
  fuse::Answer<void> check_moved(const ServedNode& parent, std::string_view name) const;
  bool brings_links(const ServedNode& from, const std::string& name, const ServedNode& to) const;
  fuse::Answer<fuse::Handle> keep(int fd);
  fuse::Answer<int> opened(fuse::Handle handle) const;
  // The node, with its place as it is now: the host may have moved it since it was looked up. Null when it is unknown.
  ServedNode* current(fuse::Node number);
  std::optional<ServedPlace> place_now(int fd);
  bool became_guarded(int fd);
  fuse_attr attributes_of(const struct stat& status) const;
  void remember_made(int directory, const std::string& name);
  bool was_made_inside(int fd) const;
  // The host may give it a guarded name.
  void touch(int directory, const char* name);

  GitRules rules_;
  ServedIds ids_;
  KnownFiles known_;
  Refusals& refusals_;
  TouchedFiles& touched_;
  NodeTable nodes_{};
  Drafts drafts_{};
  UniqueFd lock_{};  // of every worktree of the host
  std::unordered_map<fuse::Handle, UniqueFd> handles_{};
  std::set<BornDirectory> made_{};
};

}  // namespace coop::guards
