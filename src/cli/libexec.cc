#include "cli/libexec.h"

#include <unistd.h>

#include <vector>

#include "base/path.h"
#include "sys/real_path.h"

namespace coop::cli {

Result<int> become(const std::string& program, const std::string& command, Arguments arguments) {
  const Path self = TRY(read_link("/proc/self/exe"));
  const Path path = join(parent_of(parent_of(self)), "libexec/coop/coop-" + program);
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
