// The owner's look-up on the host itself: symlinks are followed by hand, so that none of the workspace leads out of it.
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ranges>

#include "base/path.h"
#include "tools/files/lookup.h"
#include "tools/files/path_form.h"

namespace coop::tools {

namespace {

constexpr int kMostFollowed = 40;  // the kernel's own

// Step by step, on descriptors: a user whose sandbox writes the workspace can exchange what a text names at any moment.
// Links of such a user belong to the owner's uid, so which of them the owner made cannot be told: none leads out.
class HostWalk {
 public:
  HostWalk(const FileView::State& view, const Request& request) : view_(view), request_(request) {}

  Result<Found> to(const Path& asked) {
    push(asked);
    TRY(from_root());
    if (::stat(view_.workspace().c_str(), &workspace_) < 0) return failed(errno);
    Found found = TRY(go());
    found.asked = asked;
    if (!entered_.empty() && !is_within(found.inside, entered_) &&
        !is_within(found.inside, view_.workspace()))
      return leads_out(found);
    return found;
  }

 private:
  std::unexpected<Error> failed(int error) const {
    return system_error_of(error, request_.operation, printable(request_.path));
  }

  std::unexpected<Error> leads_out(const Found& found) const {
    Error error = denied(request_.operation,
                         in_quotes(request_.path) + " leads out of the workspace, to " +
                             in_quotes(found.inside),
                         Rule::of_coop(Part::workspace_links))
                      .error();
    error.hint = "name the file it leads to, if you intend this";
    return std::unexpected(std::move(error));
  }

  // The names of `path` are the next to go through.
  void push(std::string_view path) {
    std::vector<std::string> names;
    for (const auto part : std::views::split(path, '/'))
      if (const std::string_view name(part); !name.empty() && name != ".") names.emplace_back(name);
    left_.insert(left_.end(), names.rbegin(), names.rend());
  }

  Result<void> from_root() {
    here_ = TRY(open_at(view_.root(), ".", O_PATH | O_DIRECTORY));
    return look();
  }

  // Whether this is the workspace or in it, under whatever name.
  Result<void> look() {
    struct stat status{};
    if (::fstat(here_.get(), &status) < 0) return failed(errno);
    const Path name = TRY(name_of_descriptor(here_, request_));
    if (status.st_dev == workspace_.st_dev && status.st_ino == workspace_.st_ino) entered_ = name;
    else if (entered_.empty() && is_within(name, view_.workspace())) entered_ = view_.workspace();
    return {};
  }

  Result<Found> go() {
    while (!left_.empty()) {
      const std::string name = std::move(left_.back());
      left_.pop_back();
      Result<UniqueFd> next = open_at(here_.get(), name, O_PATH | O_NOFOLLOW);
      if (!next && next.error().errno_value == ENOENT) return gap(name);
      if (!next) return failed(next.error().errno_value);
      struct stat status{};
      if (::fstat(next->get(), &status) < 0) return failed(errno);
      if (S_ISLNK(status.st_mode)) {
        TRY(follow(*next));
        continue;
      }
      if (!S_ISDIR(status.st_mode)) {
        if (!left_.empty()) return failed(ENOTDIR);
        return found(std::move(*next));
      }
      here_ = std::move(*next);
      TRY(look());
    }
    return found(std::move(here_));
  }

  Result<void> follow(const UniqueFd& link) {
    if (++links_ > kMostFollowed)
      return invalid(request_.operation,
                     in_quotes(request_.path) + " goes through a link that cannot be followed");
    std::array<char, PATH_MAX> text;
    const ssize_t size = ::readlinkat(link.get(), "", text.data(), text.size());
    if (size <= 0) return failed(size < 0 ? errno : ENOENT);
    const std::string_view target(text.data(), static_cast<std::size_t>(size));
    push(target);
    return target.starts_with('/') ? from_root() : Result<void>();
  }

  Result<Found> found(UniqueFd fd) const {
    Found found{.fd = std::move(fd)};
    found.inside = TRY(name_of_descriptor(found.fd, request_));
    if (::fstat(found.fd.get(), &found.status) < 0) return failed(errno);
    return found;
  }

  // `name` does not exist, nor does anything of what is left.
  Result<Found> gap(const std::string& name) {
    Found gap;
    gap.inside = TRY(name_of_descriptor(here_, request_));
    gap.directory = std::move(here_);
    left_.push_back(name);
    for (const std::string& missing : left_ | std::views::reverse) {
      if (missing == "..") return failed(ENOENT);
      gap.missing.push_back(missing);
      gap.inside = join(gap.inside, missing);
    }
    return gap;
  }

  const FileView::State& view_;
  const Request& request_;
  struct stat workspace_{};
  std::vector<std::string> left_{};  // names to go through, the next one last
  UniqueFd here_{};
  Path entered_{};  // the workspace, by the name under which it was gone through; empty: it was not
  int links_ = 0;
};

}  // namespace

Result<Found> find_on_host(const FileView::State& view, const Request& request, const Path& asked) {
  return HostWalk(view, request).to(asked);
}

}  // namespace coop::tools
