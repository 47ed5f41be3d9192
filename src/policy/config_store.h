// A loaded configuration that can be replaced while others read it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "policy/config.h"

namespace coop::policy {

class ConfigStore {
 public:
  // Reads the file's text; the store itself makes no system call.
  using Reader = std::function<Result<std::string>()>;

  static Result<std::unique_ptr<ConfigStore>> open(std::string file, Surroundings surroundings,
                                                   Reader reader);

  // What holds now. A caller keeps what it got for as long as it needs it; nothing in it changes.
  std::shared_ptr<const Config> current() const;

  struct Reloaded {
    bool replaced = false;  // false: the file is as it was, or broken, and the old one stays
    Findings findings{};    // of the new text; with errors it was not taken
  };
  // Reads the file again. All or nothing: readers see the old one or the new one.
  Reloaded reload();

 private:
  ConfigStore(std::string file, Surroundings surroundings, Reader reader);

  std::string file_;
  Surroundings surroundings_;
  Reader reader_;
  std::mutex reloading_;
  std::string text_;             // what the current configuration was read from
  mutable std::mutex swapping_;  // held for the exchange of the pointer alone
  std::shared_ptr<const Config> current_;
};

}  // namespace coop::policy
