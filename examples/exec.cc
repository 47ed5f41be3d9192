// Runs one command in a sandbox and prints its output: examples/exec [DIRECTORY]
#include <coop/sandbox.h>

#include <cstdio>

int main(int count, char** words) {
  const coop::Policy policy{.workspace = count > 1 ? words[1] : "."};
  const coop::Result<coop::ExecOutput> done =
      coop::exec(policy, "echo hello from $(hostname); ls /work | wc -l", std::chrono::seconds(10));
  if (!done) {
    std::fprintf(stderr, "%s\n", coop::to_text(done.error()).c_str());
    return 1;
  }
  std::printf("%s", done->standard_output.text.c_str());
  std::printf("exit code %d after %lld us\n", done->exit_code,
              static_cast<long long>(done->usage.wall.count()));
  return done->exit_code;
}
