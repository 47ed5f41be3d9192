#include <string>
#include <vector>

#include "cli/command.h"

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + (count > 0 ? 1 : 0), words + count);
  return coop::cli::main_with(arguments);
}
