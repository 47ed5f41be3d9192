#include "tools/current_view.h"

#include <utility>

namespace coop::tools {

CurrentView::CurrentView(Make make, FileView first, std::chrono::milliseconds good_for)
    : make_(std::move(make)),
      view_(std::move(first)),
      good_for_(good_for),
      good_until_(std::chrono::steady_clock::now() + good_for) {}

Result<FileView> CurrentView::get() {
  const std::lock_guard lock(mutex_);
  if (std::chrono::steady_clock::now() < good_until_) return view_;
  FileView fresh = TRY(with_context("looking at the workspace", make_()));
  view_ = std::move(fresh);
  good_until_ = std::chrono::steady_clock::now() + good_for_;
  return view_;
}

void CurrentView::outdate() {
  const std::lock_guard lock(mutex_);
  good_until_ = {};
}

}  // namespace coop::tools
