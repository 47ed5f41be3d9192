#include <malloc.h>

#include <string>
#include <vector>

#include "cli/command.h"

int main(int count, char** words) {
  ::mallopt(M_TOP_PAD, 1 << 18);  // the heap a plan needs, at once instead of page by page
  const std::vector<std::string> arguments(words + (count > 0 ? 1 : 0), words + count);
  return coop::cli::main_with(arguments);
}
