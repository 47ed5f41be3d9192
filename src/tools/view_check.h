// What a view allows of one path of the host.
#pragma once

#include <optional>
#include <string_view>

#include "plan/explain.h"
#include "run/prepare.h"
#include "tools/file_view.h"
#include "tools/location.h"

namespace coop::tools {

enum class Walls : std::uint8_t { sandbox, none };

struct FileView::State {
  Walls walls = Walls::sandbox;
  run::Prepared prepared{};  // without walls: a plan that shows the host
  const Path& workspace() const { return prepared.policy.workspace; }
};

// What was asked for, for the error.
struct Request {
  std::string_view operation;  // "open", "write"
  std::string_view path;
};

// An error that names the rule unless `host` (canonical, or by its text) may be read.
Result<void> check_readable(const FileView::State& view, const Request& request, const Path& host);
// Guards and identity files: by the name alone, whether there is such a file or not.
Result<void> check_name(const FileView::State& view, const Request& request, const Path& host);
// check_name(), and what the plan says.
Result<void> check_writable(const FileView::State& view, const Request& request, const Path& host);

}  // namespace coop::tools
