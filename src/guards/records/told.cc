#include "guards/records/told.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/path.h"
#include "base/text.h"
#include "host/probe.h"
#include "policy/builtin.h"
#include "sys/fd.h"

namespace coop::guards {

namespace {

// Fields end with a zero byte: the version of the format, the number of roots, the roots, when the look began, whether it
// was complete, the number of names, the names, the known paths. What stands before the time is the same in every version.
constexpr std::string_view kFormat = "4";

template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

class Writer {
 public:
  void add(std::string_view field) { bytes_.append(field).push_back('\0'); }
  void add(std::int64_t number) { add(std::string_view(std::to_string(number))); }
  void add(const BornFile& file) {
    const auto& [device, inode, born] = file;
    add(std::string_view(std::to_string(device) + ":" + std::to_string(inode) + ":" +
                         std::to_string(born)));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_{};
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  bool read(std::string& text) {
    const std::size_t end = bytes_.find('\0');
    if (end == std::string_view::npos) return false;
    text = bytes_.substr(0, end);
    bytes_.remove_prefix(end + 1);
    return true;
  }
  template <typename Number>
  bool read_number(Number& number) {
    std::string text;
    return read(text) && parse_number(text, number);
  }
  bool read(BornFile& file) {
    std::string text;
    if (!read(text)) return false;
    const std::size_t first = text.find(':');
    const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
    if (second == std::string::npos) return false;
    const std::string_view view = text;
    auto& [device, inode, born] = file;
    return parse_number(view.substr(0, first), device) &&
           parse_number(view.substr(first + 1, second - first - 1), inode) &&
           parse_number(view.substr(second + 1), born);
  }
  // A count cannot exceed the bytes that are left.
  bool read_count(std::size_t& count) { return read_number(count) && count <= bytes_.size(); }

 private:
  std::string_view bytes_;
};

bool read_roots(Reader& reader, std::vector<ToldRoot>& roots) {
  std::size_t count = 0;
  if (!reader.read_count(count)) return false;
  for (; count > 0; --count) {
    ToldRoot& root = roots.emplace_back();
    if (!reader.read(root.path) || !reader.read(root.identity)) return false;
  }
  return true;
}

bool same_object(const GuardedPath& found, const ToldPath& known) {
  return BornFile{found.device, found.inode, found.born} == known.identity &&
         found.link == known.link;
}

// A mount cannot hold a symlink in its place, nor is there one on what programs inside must write: a sandbox can give these
// another place by renaming a directory above, which leaves no trace in the file.
bool can_be_moved_inside(const GuardedPath& found) {
  return !found.link.empty() || policy::guard_kind(found.guard) == policy::GuardKind::contents;
}

}  // namespace

BornFile object_at(const Path& path) {
  struct statx status{};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &status) < 0)
    return {};
  const bool born = (status.stx_mask & STATX_BTIME) != 0;
  return {::makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino,
          born ? status.stx_btime.tv_sec * 1'000'000'000 + status.stx_btime.tv_nsec : 0};
}

std::string to_bytes(const Told& told) {
  Writer writer;
  writer.add(kFormat);
  writer.add(static_cast<std::int64_t>(told.roots.size()));
  for (const ToldRoot& root : told.roots) {
    writer.add(root.path);
    writer.add(root.identity);
  }
  writer.add(told.started);
  writer.add(std::int64_t{told.complete ? 1 : 0});
  writer.add(static_cast<std::int64_t>(told.guards.size()));
  for (const std::string& guard : told.guards) writer.add(guard);
  for (const ToldPath& known : told.known) {
    writer.add(known.path);
    writer.add(known.guard);
    writer.add(known.identity);
    writer.add(known.link);
  }
  return writer.take();
}

std::optional<std::vector<ToldRoot>> parse_roots(std::string_view bytes) {
  Reader reader(bytes);
  std::string format;
  std::vector<ToldRoot> roots;
  if (!reader.read(format) || !read_roots(reader, roots) || roots.empty()) return std::nullopt;
  return roots;
}

std::optional<Told> parse_told(std::string_view bytes) {
  Reader reader(bytes);
  Told told;
  std::string format;
  int complete = 0;
  std::size_t guards = 0;
  if (!reader.read(format) || format != kFormat || !read_roots(reader, told.roots) ||
      !reader.read_number(told.started) || !reader.read_number(complete) ||
      (complete != 0 && complete != 1) || !reader.read_count(guards))
    return std::nullopt;
  told.complete = complete == 1;
  for (; guards > 0; --guards)
    if (!reader.read(told.guards.emplace_back())) return std::nullopt;
  while (!reader.at_end()) {
    ToldPath& known = told.known.emplace_back();
    if (!reader.read(known.path) || !reader.read(known.guard) || !reader.read(known.identity) ||
        !reader.read(known.link))
      return std::nullopt;
  }
  if (!std::ranges::is_sorted(told.known, {}, &ToldPath::path)) return std::nullopt;
  return told;
}

const BornFile& Identities::of(const Path& path) {
  const auto known = known_.find(path);
  return known != known_.end() ? known->second
                               : known_.emplace(path, object_at(path)).first->second;
}

Identities::Place Identities::place_of(const Path& path) {
  if (!mounts_) {
    const Result<std::string> text = read_file("/proc/self/mountinfo");
    mounts_ = host::parse_mountinfo(text ? *text : std::string());
  }
  const MountFact* deepest = nullptr;
  for (const MountFact& mount : *mounts_)  // a later one covers an earlier one of the same place
    if (is_within(path, mount.target) &&
        (deepest == nullptr || mount.target.size() >= deepest->target.size()))
      deepest = &mount;
  if (deepest == nullptr) return {};
  return {deepest->device, join(deepest->root, relative_to(path, deepest->target))};
}

OtherRun::OtherRun(Told told, Identities& identities)
    : told_(std::move(told)), identities_(identities) {
  for (const ToldPath& known : told_.known) objects_.emplace(known.identity, &known);
}

std::optional<Path> OtherRun::as_told(const Path& path) const {
  for (Path above = path;; above = parent_of(above)) {
    for (const ToldRoot& root : told_.roots)
      if (root.identity == BornFile{} ? above == root.path : identities_.of(above) == root.identity)
        return join(root.path, relative_to(path, above));
    if (above.size() <= 1) break;
  }
  // A bind mount of a part of that tree: the directories above the part are not above the mount.
  for (const ToldRoot& root : told_.roots) {
    if (root.identity == BornFile{} || identities_.of(root.path) != root.identity) continue;
    const Identities::Place tree = identities_.place_of(root.path);
    const Identities::Place ours = identities_.place_of(path);
    if (!tree.device.empty() && tree.device == ours.device && is_within(ours.path, tree.path))
      return join(root.path, relative_to(ours.path, tree.path));
  }
  return std::nullopt;
}

bool OtherRun::is_root(const Path& path) const {
  const std::optional<Path> told = as_told(path);
  return told && std::ranges::find(told_.roots, *told, &ToldRoot::path) != told_.roots.end();
}

bool OtherRun::is_below(const Path& path) const {
  return std::ranges::any_of(told_.roots, [&](const ToldRoot& root) {
    const Identities::Place tree = identities_.place_of(root.path);
    const Identities::Place ours = identities_.place_of(path);
    return is_within(root.path, path) ||
           (tree.device == ours.device && is_within(tree.path, ours.path));
  });
}

const ToldPath* OtherRun::find(std::string_view path) const {
  const auto known = std::ranges::lower_bound(told_.known, path, {}, &ToldPath::path);
  return known != told_.known.end() && known->path == path ? &*known : nullptr;
}

// The same object at whatever path: the user has moved a directory that contains it.
bool OtherRun::is_known_object(const GuardedPath& found) const {
  if (found.born == 0) return false;
  const auto [begin, end] = objects_.equal_range({found.device, found.inode, found.born});
  return std::any_of(begin, end, [&](const auto& entry) {
    return entry.second->guard == found.guard && same_object(found, *entry.second);
  });
}

bool OtherRun::is_known(const GuardedPath& found, std::string_view path) const {
  const ToldPath* const known = find(path);
  return (known != nullptr && same_object(found, *known)) ||
         (!can_be_moved_inside(found) && is_known_object(found));
}

bool OtherRun::may_have_made(const GuardedPath& found, const Path& path) const {
  return found.changed >= told_.started || !is_known(found, path);
}

bool OtherRun::may_have_made(std::int64_t changed, const Path& path) const {
  return changed >= told_.started || find(path) == nullptr;
}

bool OtherRun::has_made(const GuardedPath& found, const Path& path, const Path& look) const {
  if (!told_.complete || !std::ranges::binary_search(told_.guards, found.guard)) return false;
  // Other names count at the top of a tree only, or not below packages: that run need not have listed it.
  if (!found.guard.starts_with(".git/") && !is_root(look)) return false;
  // Programs of the host replace such files; that sandbox could not.
  if (!can_be_moved_inside(found)) return find(path) == nullptr && !is_known_object(found);
  const bool rewritten = found.link.empty() && found.changed >= told_.started;
  return rewritten || !is_known(found, path);
}

}  // namespace coop::guards
