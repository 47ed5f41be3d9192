// The view of the files as it is now: the workspace changes under a session that lasts.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>

#include "tools/file_view.h"

namespace coop::tools {

// Patterns are matched and guards looked for when a view is made, so it is made anew when a command has run, and when
// it is older than `good_for`.
class CurrentView {
 public:
  using Make = std::function<Result<FileView>()>;
  CurrentView(Make make, FileView first, std::chrono::milliseconds good_for);

  // An error when it cannot be made any more: then no file is shown at all.
  Result<FileView> get();
  void outdate();

 private:
  Make make_;
  std::mutex mutex_{};
  FileView view_;
  std::chrono::milliseconds good_for_;
  std::chrono::steady_clock::time_point good_until_;
};

}  // namespace coop::tools
