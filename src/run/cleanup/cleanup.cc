#include "run/cleanup/cleanup.h"

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "guards/records/run_record.h"
#include "run/start/group.h"

namespace coop::run {

namespace {

// The fields of each type, for writing and for reading.
void visit_fields(auto& archive, Cleanup& cleanup) {
  archive(cleanup.groups, cleanup.guards, cleanup.before, cleanup.versions, cleanup.quarantine,
          cleanup.indexes, cleanup.record, cleanup.doubtful, cleanup.abandoned, cleanup.gaps,
          cleanup.git_user, cleanup.mounts);
}
void visit_fields(auto& archive, guards::GitUser& user) {
  archive(user.home, user.config_home, user.homes, user.configurations);
}
void visit_fields(auto& archive, MountBelow& below) {
  archive(below.mount, below.device, below.inode);
}
void visit_fields(auto& archive, MountFact& mount) {
  archive(mount.device, mount.root, mount.target, mount.type, mount.source, mount.read_only);
}
void visit_fields(auto& archive, GuardPlan& guards) {
  archive(guards.roots, guards.names, guards.mounted, guards.places, guards.served,
          guards.unserved);
}
void visit_fields(auto& archive, WorkspaceFacts& facts) {
  archive(facts.guarded, facts.outside_git, facts.git, facts.made_inside, facts.complete,
          facts.started, facts.named, facts.notes, facts.package_links);
}
void visit_fields(auto& archive, PackageLink& link) {
  archive(link.path, link.text, link.place, link.through);
}
void visit_fields(auto& archive, guards::Version& version) {
  archive(version.path, version.entries, version.changed);
}
void visit_fields(auto& archive, guards::VersionEntry& entry) {
  archive(entry.path, entry.mode, entry.owner, entry.group, entry.content);
}
void visit_fields(auto& archive, GitDirectory& git) {
  archive(git.path, git.device, git.inode, git.born);
}
void visit_fields(auto& archive, NamedPath& named) { archive(named.path, named.guard); }
void visit_fields(auto& archive, GuardedPath& path) {
  archive(path.path, path.guard, path.device, path.inode, path.born, path.changed, path.links,
          path.directory, path.harmless, path.link, path.through, path.programs);
}

// Writes fields as bytes, or reads them back.
class Archive {
 public:
  Archive() = default;                                        // writes
  explicit Archive(std::string_view bytes) : rest_(bytes) {}  // reads

  void operator()(auto&... values) { (pass(values), ...); }
  std::string take() && { return std::move(written_); }
  bool at_end() const { return !failed_ && rest_ && rest_->empty(); }

 private:
  void copy(void* data, std::size_t size) {
    if (!rest_) {
      written_.append(static_cast<const char*>(data), size);
    } else if (size > rest_->size()) {
      failed_ = true;
    } else {
      rest_->copy(static_cast<char*>(data), size);
      rest_->remove_prefix(size);
    }
  }
  template <std::integral Value>
  void pass(Value& value) {
    auto number = static_cast<std::uint64_t>(value);
    copy(&number, sizeof number);
    value = static_cast<Value>(number);
  }
  void pass(std::string& text) {
    std::size_t size = text.size();
    pass(size);
    failed_ = failed_ || (rest_ && size > rest_->size());
    if (failed_) return;
    text.resize(size);
    copy(text.data(), size);
  }
  template <typename Item>
  void pass(std::vector<Item>& items) {
    std::size_t size = items.size();
    pass(size);
    for (std::size_t index = 0; index < size && !failed_; ++index) {
      if (rest_) items.emplace_back();
      pass(items[index]);
    }
  }
  template <typename Value>
    requires std::is_class_v<Value>
  void pass(Value& value) {
    visit_fields(*this, value);
  }

  std::string written_{};
  std::optional<std::string_view> rest_{};  // what is left to read
  bool failed_ = false;
};

}  // namespace

void carry_out(const Cleanup& cleanup, const Remains& remains) {
  // The group first: it can be removed only when every process in it is dead.
  remove_group_directories(cleanup.groups);
  if (!cleanup.record.empty()) guards::end_record(cleanup.record);
  last_look(cleanup, remains);
  if (!cleanup.record.empty()) guards::remove_record(cleanup.record);
}

std::string to_bytes(Cleanup cleanup) {
  Archive archive;
  archive(cleanup);
  return std::move(archive).take();
}

std::optional<Cleanup> cleanup_from(std::string_view bytes) {
  Cleanup cleanup;
  Archive archive(bytes);
  archive(cleanup);
  if (!archive.at_end()) return std::nullopt;
  return cleanup;
}

}  // namespace coop::run
