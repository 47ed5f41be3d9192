// Keeps sandboxes prepared, so that commands start faster: examples/pool
#include <coop/sandbox.h>

#include <cstdio>
#include <string>

int main() {
  coop::Result<coop::Pool> pool = coop::Pool::create({.workspace = "."}, 2);
  if (!pool) {
    std::fprintf(stderr, "%s\n", coop::to_text(pool.error()).c_str());
    return 1;
  }
  for (int number = 1; number <= 3; ++number) {
    const coop::Command command{.arguments = {"echo", "command " + std::to_string(number)}};
    const coop::Result<coop::ExecOutput> done = pool->exec(command);
    if (!done) {
      std::fprintf(stderr, "%s\n", coop::to_text(done.error()).c_str());
      return 1;
    }
    std::printf("%s", done->standard_output.text.c_str());
  }
  return 0;
}
