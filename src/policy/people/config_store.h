// A loaded configuration that can be replaced while other threads read it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "policy/people/config.h"

namespace coop::policy {

class ConfigStore {
 public:
  // Reads the file's text; the store itself makes no system call.
  using Reader = std::function<Result<std::string>()>;

  static Result<std::unique_ptr<ConfigStore>> open(std::string file, Surroundings surroundings,
                                                   Reader reader);

  // The current configuration: immutable, and valid for as long as the caller holds it.
  std::shared_ptr<const Config> current() const;

  struct Reloaded {
    bool replaced = false;  // false: unchanged, or broken and the old one stays
    Findings findings{};    // about the new text; if there are errors, it was not applied
  };
  // Reads the file again. Atomic: readers see the old configuration or the new one.
  Reloaded reload();

 private:
  ConfigStore(std::string file, Surroundings surroundings, Reader reader);

  std::string file_;
  Surroundings surroundings_;
  Reader reader_;
  std::mutex reloading_;
  std::string text_;             // what the current configuration was read from
  mutable std::mutex swapping_;  // held only to exchange the pointer
  std::shared_ptr<const Config> current_;
};

}  // namespace coop::policy
