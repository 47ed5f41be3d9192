#include "run/cleanup/cleanup.h"

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "guards/quarantine.h"
#include "run/start/group.h"

namespace coop::run {

namespace {

// The fields of each type, for writing and for reading.
void visit_fields(auto& archive, Cleanup& cleanup) {
  archive(cleanup.groups, cleanup.guards, cleanup.before, cleanup.quarantine);
}
void visit_fields(auto& archive, GuardPlan& guards) {
  archive(guards.roots, guards.names, guards.mounted);
}
void visit_fields(auto& archive, WorkspaceFacts& facts) {
  archive(facts.guarded, facts.outside_git, facts.complete, facts.started, facts.named,
          facts.notes);
}
void visit_fields(auto& archive, NamedPath& named) { archive(named.path, named.guard); }
void visit_fields(auto& archive, GuardedPath& path) {
  archive(path.path, path.guard, path.device, path.inode, path.changed, path.links, path.directory,
          path.harmless, path.link, path.through);
}

class Writer {
 public:
  void operator()(auto&... values) { (write(values), ...); }
  std::string take() && { return std::move(bytes_); }

 private:
  void write(std::integral auto value) {
    const auto number = static_cast<std::uint64_t>(value);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void write(std::string& text) {
    write(text.size());
    bytes_ += text;
  }
  template <typename Item>
  void write(std::vector<Item>& items) {
    write(items.size());
    for (Item& item : items) write(item);
  }
  template <typename Value>
    requires std::is_class_v<Value>
  void write(Value& value) {
    visit_fields(*this, value);
  }

  std::string bytes_{};
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  void operator()(auto&... values) { (read(values), ...); }
  bool at_end() const { return !failed_ && rest_.empty(); }

 private:
  void read(std::integral auto& value) {
    std::uint64_t number = 0;
    if (rest_.size() < sizeof number) return fail();
    std::memcpy(&number, rest_.data(), sizeof number);
    rest_.remove_prefix(sizeof number);
    value = static_cast<std::remove_cvref_t<decltype(value)>>(number);
  }
  void read(std::string& text) {
    std::uint64_t size = 0;
    read(size);
    if (size > rest_.size()) return fail();
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  template <typename Item>
  void read(std::vector<Item>& items) {
    std::uint64_t count = 0;
    read(count);
    for (; count > 0 && !failed_; --count) {
      items.emplace_back();
      read(items.back());
    }
  }
  template <typename Value>
    requires std::is_class_v<Value>
  void read(Value& value) {
    visit_fields(*this, value);
  }

  void fail() {
    failed_ = true;
    rest_ = {};
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace

void carry_out(const Cleanup& cleanup) {
  // The group first: it can be removed only when every process in it is dead.
  remove_group_directories(cleanup.groups);
  const GuardPlan& guards = cleanup.guards;
  if (!guards.roots.empty())
    guards::quarantine({guards.roots, guards.names, guards.mounted}, cleanup.before,
                       cleanup.quarantine);
}

std::string to_bytes(Cleanup cleanup) {
  Writer writer;
  writer(cleanup);
  return std::move(writer).take();
}

std::optional<Cleanup> cleanup_from(std::string_view bytes) {
  Cleanup cleanup;
  Reader reader(bytes);
  reader(cleanup);
  if (!reader.at_end()) return std::nullopt;
  return cleanup;
}

}  // namespace coop::run
