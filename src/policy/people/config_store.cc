#include "policy/people/config_store.h"

#include <utility>

namespace coop::policy {

ConfigStore::ConfigStore(std::string file, Surroundings surroundings, Reader reader)
    : file_(std::move(file)), surroundings_(std::move(surroundings)), reader_(std::move(reader)) {}

Result<std::unique_ptr<ConfigStore>> ConfigStore::open(std::string file, Surroundings surroundings,
                                                       Reader reader) {
  std::unique_ptr<ConfigStore> store(
      new ConfigStore(std::move(file), std::move(surroundings), std::move(reader)));
  store->text_ = TRY(with_context("reading the configuration", store->reader_()));
  Findings findings;
  auto config = std::make_shared<const Config>(
      read_config(store->text_, store->file_, store->surroundings_, findings));
  if (has_errors(findings)) return std::unexpected(to_error(findings));
  store->current_ = std::move(config);
  return store;
}

std::shared_ptr<const Config> ConfigStore::current() const {
  const std::lock_guard lock(swapping_);
  return current_;
}

ConfigStore::Reloaded ConfigStore::reload() {
  // Serialise reloads: of two that read different texts, the later read must win.
  const std::lock_guard one_at_a_time(reloading_);
  Result<std::string> text = reader_();
  if (!text)
    return {.findings = {{.severity = Severity::error,
                          .check = "syntax",
                          .file = file_,
                          .message = "cannot be read: " + coop::to_text(text.error()),
                          .fix = text.error().hint}}};
  if (*text == text_) return {};
  Reloaded reloaded;
  auto config =
      std::make_shared<const Config>(read_config(*text, file_, surroundings_, reloaded.findings));
  if (has_errors(reloaded.findings)) return reloaded;
  text_ = std::move(*text);
  reloaded.replaced = true;
  // Destroying the old configuration may take time: not while readers wait for the lock.
  const std::lock_guard lock(swapping_);
  current_.swap(config);
  return reloaded;
}

}  // namespace coop::policy
