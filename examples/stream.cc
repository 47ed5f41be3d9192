// Starts a command and reads its output while it runs: examples/stream
#include <coop/sandbox.h>
#include <unistd.h>

#include <cstdio>

int main() {
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) return 1;
  const coop::Policy policy{.workspace = "."};
  const coop::Command command{.arguments = {"sh", "-c", "for i in 1 2 3; do echo line $i; done"}};
  coop::Result<coop::Sandbox> sandbox = coop::spawn(policy, command, {.output = pipe_ends[1]});
  ::close(pipe_ends[1]);
  if (!sandbox) {
    std::fprintf(stderr, "%s\n", coop::to_text(sandbox.error()).c_str());
    return 1;
  }
  char buffer[256];
  for (ssize_t size; (size = ::read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
    std::fwrite(buffer, 1, static_cast<std::size_t>(size), stdout);
  const coop::Result<coop::ExecOutput> done = sandbox->wait();
  if (!done) std::fprintf(stderr, "%s\n", coop::to_text(done.error()).c_str());
  return done ? done->exit_code : 1;
}
