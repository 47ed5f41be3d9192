#include "cli/libexec.h"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "base/path.h"

namespace coop::cli {

Result<int> become(const std::string& program, const std::string& command, Arguments arguments) {
  std::array<char, PATH_MAX> self{};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size() - 1);
  if (length < 0) return system_error("readlink", "/proc/self/exe");
  const Path path = join(parent_of(parent_of(Path(self.data()))), "libexec/coop/coop-" + program);
  std::vector<std::string> words{path, command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(path.c_str(), pointers.data());
  return with_hint("it belongs to coop: install all of it, or build it with ./dev build",
                   Result<int>(system_error("start", path)));
}

}  // namespace coop::cli
