#include "tools/search/tree_search.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/path.h"
#include "base/wildcard.h"
#include "tools/files/lookup.h"
#include "tools/search/file_reader.h"
#include "tools/search/ignore_rules.h"
#include "tools/shown.h"
#include "tools/values.h"

namespace coop::tools {

namespace {

constexpr std::size_t kMostLines = 200;
constexpr std::size_t kLongestShown = 300;
constexpr std::size_t kMostNames = 100000;  // in one directory
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kChunk = 64;  // files for one task
constexpr std::size_t kMostThreads = 4;
constexpr std::size_t kLongestIgnoreFile = std::size_t{1} << 20;
constexpr std::chrono::seconds kMostTime{10};

struct Closer {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// The first lines of a file that match; one more than are ever shown, to know that there are more.
std::vector<std::string> lines_in(std::string_view text, LineMatcher& matcher) {
  std::vector<std::string> lines;
  const LineEnds ends = line_ends_of(text);
  std::size_t number = 1;
  while (lines.size() <= kMostLines) {
    const std::string_view line = matcher.find(text, ends);
    if (line.data() == nullptr) break;
    const auto before = static_cast<std::size_t>(line.data() - text.data());
    number += static_cast<std::size_t>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(before), '\n'));
    lines.push_back(":" + std::to_string(number) + ": " + as_utf8(line.substr(0, kLongestShown)) +
                    (line.size() > kLongestShown ? "…\n" : "\n"));
    text.remove_prefix(before);
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    ++number;
  }
  return lines;
}

struct Node;

enum class State : std::uint8_t { waiting, searched, passed, gone };

// An entry of a directory: a file, or a directory of its own.
struct Item {
  std::string name{};
  std::unique_ptr<Node> below{};
  State state = State::waiting;
  std::vector<std::string> lines{};
};

struct Node {
  std::shared_ptr<UniqueFd> parent{};  // unset: `fd` is open already
  std::shared_ptr<UniqueFd> fd{};
  std::string name{};
  Path inside{};
  Path shown{};
  std::string path{};  // from where ignore files are read on, with a slash at the end; empty: there
  std::size_t depth = 0;
  bool uniform = false;  // see FileView::is_uniform()
  bool plain = false;    // and all that is below it is shown
  std::shared_ptr<const IgnoreLevel> level{};
  // Written by one task each, read by others once `listed`, and `done` of the chunk, were set under the lock.
  std::vector<Item> items{};
  std::size_t hidden = 0;
  std::size_t ignored = 0;
  bool incomplete = false;
  bool listed = false;
  std::vector<bool> done{};
};

void search_file(int fd, Item& item, LineMatcher& matcher, FileReader& reader) {
  const bool text = reader.read(fd) == Readable::text;
  item.state = text ? State::searched : State::passed;
  if (text) item.lines = lines_in(reader.text(), matcher);
}

// What is shown, file by file.
class Shown {
 public:
  void add(Item& item, const Path& path) {
    if (item.state == State::passed) ++result.passed;
    if (item.state != State::searched) return;
    ++result.files;
    if (item.lines.empty()) return;
    const std::string shown = printable(path);
    for (const std::string& line : std::exchange(item.lines, {})) {
      const std::string found = shown + line;
      size_ += json_characters_of(found);
      result.cut = result.lines == kMostLines || size_ > kMostShownText;
      if (result.cut) return;
      ++result.lines;
      result.text += found;
    }
  }

  SearchResult result{};

 private:
  std::size_t size_ = 0;  // of the text, as the model sees it
};

struct Task {
  Node* node = nullptr;
  std::optional<std::size_t>
      chunk{};  // whose files are to be searched; unset: the directory is to be listed
};

Result<std::string> read_ignore_file(int directory, const char* name) {
  const UniqueFd fd = TRY(open_at(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode)) return std::string();
  return read_at_most(fd.get(), kLongestIgnoreFile, name);
}

void add_file(IgnoreList& list, int directory, const char* name) {
  if (const Result<std::string> text = read_ignore_file(directory, name)) list.add(*text);
}

// What holds in a directory, by what its parent says and by which of these names it has.
struct IgnoreNames {
  bool own = false;
  bool git = false;
  bool repository = false;
};
std::shared_ptr<const IgnoreLevel> level_of(int directory, std::size_t depth, IgnoreNames names,
                                            std::shared_ptr<const IgnoreLevel> above) {
  if (!names.own && !names.git && !names.repository) return above;
  auto level = std::make_shared<IgnoreLevel>();
  level->above = std::move(above);
  level->depth = depth;
  level->repository = names.repository;
  if (names.own) add_file(level->own, directory, ".ignore");
  if (names.repository) add_file(level->git, directory, ".git/info/exclude");
  if (names.git) add_file(level->git, directory, ".gitignore");
  return level;
}

class TreeSearch {
 public:
  TreeSearch(const FileView& view, SearchRequest request)
      : view_(view), request_(std::move(request)), decided_(view.decided()) {}

  Result<SearchResult> run(std::unique_ptr<Node> top) {
    top_ = std::move(top);
    top_->uniform = view_.is_uniform(top_->inside);
    top_->plain = top_->uniform && !is_decided_below(top_->inside);
    cursor_.push_back({top_.get(), 0});
    tasks_.push_back({.node = top_.get()});
    const std::size_t threads =
        std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
    std::vector<LineMatcher> matchers;
    for (std::size_t count = 1; count < threads; ++count) {
      LineMatcher copy = TRY(request_.matcher.copy());
      matchers.push_back(std::move(copy));
    }
    {
      // They have the rights of this thread, which may have put off its capabilities.
      std::vector<std::jthread> helpers;
      for (LineMatcher& matcher : matchers) {
        try {
          helpers.emplace_back([this, &matcher] { work(matcher); });
        } catch (const std::system_error&) {
          break;  // the others do all of it
        }
      }
      work(request_.matcher);
    }
    return std::move(shown_.result);
  }

 private:
  // --- Tasks. The last is done first, so that results come about in their order ------------------------------------

  void work(LineMatcher& matcher) {
    FileReader reader;
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      if (tasks_.empty()) {
        if (running_ == 0) break;
        changed_.wait(lock);
        continue;
      }
      const Task task = tasks_.back();
      tasks_.pop_back();
      if (std::chrono::steady_clock::now() > deadline_) {
        shown_.result.late = true;
        stopped_ = true;
        break;
      }
      ++running_;
      lock.unlock();
      if (task.chunk) search(*task.node, *task.chunk, matcher, reader);
      else list(*task.node);
      lock.lock();
      --running_;
      finish(task);
      changed_.notify_all();
    }
    changed_.notify_all();
  }

  // With the lock.
  void finish(const Task& task) {
    Node& node = *task.node;
    if (task.chunk) {
      node.done[*task.chunk] = true;
    } else {
      node.listed = true;
      add_tasks(node);
    }
    collect();
  }

  void add_tasks(Node& node) {
    node.done.assign((node.items.size() + kChunk - 1) / kChunk, true);
    for (std::size_t index = node.items.size(); index-- > 0;)
      if (node.items[index].below) tasks_.push_back({.node = node.items[index].below.get()});
    for (std::size_t chunk = node.done.size(); chunk-- > 0;) {
      const auto first = node.items.begin() + static_cast<std::ptrdiff_t>(chunk * kChunk);
      const auto count = std::min(kChunk, node.items.size() - chunk * kChunk);
      const bool files = std::any_of(first, first + static_cast<std::ptrdiff_t>(count),
                                     [](const Item& item) { return !item.below; });
      if (!files) continue;
      node.done[chunk] = false;
      tasks_.push_back({.node = &node, .chunk = chunk});
    }
  }

  // --- Without the lock --------------------------------------------------------------------------------------------

  struct Name {
    std::string text;
    unsigned char type = DT_UNKNOWN;
  };

  void list(Node& node) {
    if (node.parent) {
      node.fd = std::make_shared<UniqueFd>(
          ::openat(node.parent->get(), node.name.c_str(),
                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      node.parent.reset();
    }
    std::vector<Name> names = names_in(node);
    if (request_.ignore == IgnoreFiles::respected) add_level(node, names);
    for (Name& name : names) add_item(node, std::move(name));
  }

  std::vector<Name> names_in(Node& node) {
    std::vector<Name> names;
    UniqueFd own(
        node.fd->valid() ? ::openat(node.fd->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
    const std::unique_ptr<DIR, Closer> listing(own.valid() ? ::fdopendir(own.get()) : nullptr);
    if (listing == nullptr) {
      node.incomplete = true;
      return names;
    }
    own.release();  // the listing closes it
    while (const dirent* const found = ::readdir(listing.get())) {
      const std::string_view name = found->d_name;
      if (name == "." || name == "..") continue;
      if (names.size() == kMostNames) {
        node.incomplete = true;
        break;
      }
      names.push_back({std::string(name), found->d_type});
    }
    std::ranges::sort(names, {}, &Name::text);
    return names;
  }

  void add_level(Node& node, const std::vector<Name>& names) {
    const auto has = [&](std::string_view name) {
      return std::ranges::binary_search(names, name, {}, &Name::text) && shows(node, name);
    };
    node.level = level_of(
        node.fd->get(), node.path.size(),
        {.own = has(".ignore"), .git = has(".gitignore"), .repository = has(".git")}, node.level);
  }

  bool is_decided(const Path& inside) const { return std::ranges::binary_search(decided_, inside); }

  bool is_decided_below(const Path& inside) const {
    const Path prefix = inside == "/" ? inside : inside + "/";
    const auto next = std::ranges::lower_bound(decided_, prefix);
    return next != decided_.end() && next->starts_with(prefix);
  }

  // The plan is asked only where it can say something else than for the directory.
  bool shows(const Node& node, std::string_view name) const {
    if (node.plain) return true;
    const Path inside = join(node.inside, name);
    if (node.uniform && !is_decided(inside) && !is_decided_below(inside)) return true;
    return view_.shows(inside);
  }

  void add_item(Node& node, Name name) {
    const unsigned char type = type_of(node, name);
    if (type != DT_DIR && type != DT_REG) return;
    const bool directory = type == DT_DIR;
    if (!shows(node, name.text)) {
      ++node.hidden;
      return;
    }
    if (directory && name.text == ".git") return;  // repeats the tree
    const auto kind = directory ? EntryKind::directory : EntryKind::file;
    if (node.level && is_ignored(node.level.get(), node.path + name.text, name.text, kind)) {
      ++node.ignored;
      return;
    }
    if (!directory && !request_.glob.empty() && !matches_wildcard(request_.glob, name.text)) return;
    if (directory && node.depth == kDeepest) {
      node.incomplete = true;
      return;
    }
    Item item{.name = std::move(name.text)};
    if (directory) item.below = below(node, item.name);
    node.items.push_back(std::move(item));
  }

  static unsigned char type_of(const Node& node, const Name& name) {
    if (name.type != DT_UNKNOWN) return name.type;
    struct stat status{};
    if (::fstatat(node.fd->get(), name.text.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0)
      return DT_UNKNOWN;
    return S_ISDIR(status.st_mode) ? DT_DIR : S_ISREG(status.st_mode) ? DT_REG : DT_UNKNOWN;
  }

  std::unique_ptr<Node> below(const Node& node, const std::string& name) const {
    auto child = std::make_unique<Node>();
    child->parent = node.fd;
    child->name = name;
    child->inside = join(node.inside, name);
    child->shown = node.shown == "." ? name : join(node.shown, name);
    child->path = node.path + name + "/";
    child->depth = node.depth + 1;
    child->uniform = node.plain || (node.uniform && !is_decided(child->inside)) ||
                     view_.is_uniform(child->inside);
    child->plain = node.plain || (child->uniform && !is_decided_below(child->inside));
    child->level = node.level;
    return child;
  }

  void search(Node& node, std::size_t chunk, LineMatcher& matcher, FileReader& reader) const {
    const std::size_t end = std::min(node.items.size(), (chunk + 1) * kChunk);
    for (std::size_t index = chunk * kChunk; index < end; ++index) {
      Item& item = node.items[index];
      if (item.below) continue;
      const int directory = node.fd->get();
      // It was a plain file when it was listed. O_NONBLOCK: it may be a FIFO by now.
      const UniqueFd fd(::openat(directory, item.name.c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
      if (!fd.valid()) item.state = errno == ENOENT ? State::gone : State::passed;
      else search_file(fd.get(), item, matcher, reader);
    }
  }

  // --- Results, with the lock --------------------------------------------------------------------------------------

  // Takes what is complete, in its order.
  void collect() {
    while (!cursor_.empty() && !shown_.result.cut) {
      auto& [node, next] = cursor_.back();
      if (!node->listed) return;
      if (next == 0) begin(*node);
      if (next == node->items.size()) {
        leave();
        continue;
      }
      Item& item = node->items[next];
      if (item.below) {
        ++next;
        cursor_.push_back({item.below.get(), 0});
        continue;
      }
      if (!node->done[next / kChunk]) return;
      ++next;
      shown_.add(item, node->shown == "." ? Path(item.name) : join(node->shown, item.name));
    }
    stopped_ = true;
  }

  void begin(Node& node) {
    shown_.result.passed += std::exchange(node.hidden, 0);
    shown_.result.ignored += std::exchange(node.ignored, 0);
    shown_.result.incomplete = shown_.result.incomplete || node.incomplete;
  }

  // Nothing refers to the directory any more.
  void leave() {
    cursor_.pop_back();
    if (cursor_.empty()) return;
    const auto& [node, next] = cursor_.back();
    node->items[next - 1].below.reset();
  }

  const FileView& view_;
  SearchRequest request_;
  const std::vector<Path> decided_;
  const std::chrono::steady_clock::time_point deadline_ =
      std::chrono::steady_clock::now() + kMostTime;
  std::unique_ptr<Node> top_{};
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::vector<Task> tasks_{};
  std::size_t running_ = 0;
  bool stopped_ = false;
  std::vector<std::pair<Node*, std::size_t>>
      cursor_{};  // directories that are begun, and their next items
  Shown shown_{};
};

// The rules of the directories above the top, from the workspace on.
void add_levels_above(const FileView& view, const OpenedFile& top, Node& node) {
  const Path& workspace = view.workspace_inside();
  if (!is_within(top.inside, workspace) || top.inside == workspace) return;
  const Path below(relative_to(top.inside, workspace));
  node.path = below + "/";
  for (std::size_t end = 0; end != std::string::npos; end = below.find('/', end + 1)) {
    const Result<OpenedFile> above = view.open(end == 0 ? "." : below.substr(0, end));
    if (!above || !S_ISDIR(above->status.st_mode)) continue;
    struct stat status{};
    const bool repository = ::fstatat(above->fd.get(), ".git", &status, AT_SYMLINK_NOFOLLOW) == 0;
    node.level = level_of(above->fd.get(), end == 0 ? 0 : end + 1,
                          {.own = true, .git = true, .repository = repository}, node.level);
  }
}

}  // namespace

Result<SearchResult> search_tree(const FileView& view, const OpenedFile& top,
                                 SearchRequest request) {
  UniqueFd fd = TRY(reopen(top.fd, top.status, Request{"open", top.shown}));
  if (!S_ISDIR(top.status.st_mode)) {
    FileReader reader;
    Item item;
    search_file(fd.get(), item, request.matcher, reader);
    Shown shown;
    shown.add(item, top.shown);
    return std::move(shown.result);
  }
  auto node = std::make_unique<Node>();
  node->fd = std::make_shared<UniqueFd>(std::move(fd));
  node->inside = top.inside;
  node->shown = top.shown;
  if (request.ignore == IgnoreFiles::respected) add_levels_above(view, top, *node);
  return TreeSearch(view, std::move(request)).run(std::move(node));
}

}  // namespace coop::tools
