#include "tool_calls.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "peers.h"
#include "run/prepare.h"
#include "statistics.h"
#include "sys/fd.h"

namespace coop::bench {

namespace {

const Words kShell{"/bin/sh", "-c", "true"};

constexpr std::string_view kRequest =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bash","arguments":{"command":"true"}}})"
    "\n";

// A persistent server, as agents use it.
class McpServer {
 public:
  static Result<std::shared_ptr<McpServer>> start(const Path& coop, const Path& workspace,
                                                  const Words& flags) {
    Words words{"coop", "mcp", "--workspace", workspace};
    words.insert(words.end(), flags.begin(), flags.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    Pipe requests = TRY(make_pipe());
    Pipe answers = TRY(make_pipe());
    auto server = std::shared_ptr<McpServer>(new McpServer);
    server->pid_ = ::fork();
    if (server->pid_ < 0) return system_error("fork");
    if (server->pid_ == 0) {
      ::dup2(requests.read.get(), STDIN_FILENO);
      ::dup2(answers.write.get(), STDOUT_FILENO);
      ::execv(coop.c_str(), arguments.data());
      ::_exit(127);
    }
    server->requests_ = std::move(requests.write);
    server->answers_ = std::move(answers.read);
    return server;
  }
  McpServer(const McpServer&) = delete;
  McpServer& operator=(const McpServer&) = delete;
  ~McpServer() {
    requests_.reset();  // EOF on its input ends it
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

  Result<double> call() {
    const Clock::time_point start = Clock::now();
    TRY(write_all(requests_.get(), kRequest, "request"));
    std::string answer;
    std::array<char, 4096> buffer;
    while (!answer.ends_with('\n')) {
      const ssize_t count = ::read(answers_.get(), buffer.data(), buffer.size());
      if (count <= 0) return unsupported("coop mcp", "it gave no answer");
      answer.append(buffer.data(), static_cast<std::size_t>(count));
    }
    const double taken = microseconds_since(start);
    if (answer.find(R"("exit_code":0)") == std::string::npos)
      return unsupported("coop mcp", answer);
    return taken;
  }

 private:
  McpServer() = default;
  pid_t pid_ = -1;
  UniqueFd requests_{};
  UniqueFd answers_{};
};

// The pool refills between calls, while a model would be thinking; give it some of that time.
void think() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

}  // namespace

Contender through_mcp(const Ring& ring, const Path& workspace, std::string name,
                      const Words& flags) {
  std::string how = "coop mcp";
  for (const std::string& flag : flags) how += " " + flag;
  Contender contender{.name = std::move(name),
                      .how = how + "; tools/call bash {\"command\": \"true\"}",
                      .isolation = "namespaces, mounts, seccomp, Landlock; leak guard"};
  Result<std::shared_ptr<McpServer>> server = McpServer::start(ring.coop, workspace, flags);
  Result<double> rehearsed = server ? (*server)->call() : std::unexpected(server.error());
  if (!rehearsed) {
    contender.unavailable = to_text(rehearsed.error());
    return contender;
  }
  contender.once = [mcp = *server] { return mcp->call(); };
  contender.recover = think;
  return contender;
}

std::vector<Contender> tool_contenders(const Ring& ring) {
  Policy policy = comparable_policy(ring);
  policy.hostname = "coop-bench";
  const Result<run::Prepared> prepared = run::prepare(std::move(policy));
  Result<Launch> bwrap = prepared
                             ? bwrap_launch(prepared->plan, *ring.scratch, Filter::none, kShell)
                             : Result<Launch>(std::unexpected(prepared.error()));
  std::vector<Contender> all;
  all.push_back(
      from_launch("bare posix_spawn", "none", Launch{.arguments = kShell}, *ring.scratch));
  all.push_back(through_mcp(ring, ring.workspace, "coop mcp: bash true, warm", kComparableFlags));
  all.push_back(from_launch("coop run, cold", "namespaces, mounts, seccomp, Landlock",
                            coop_launch(ring.coop, ring.workspace, kComparableFlags, kShell),
                            *ring.scratch));
  all.push_back(
      from_launch("bwrap", "same namespaces and mounts", std::move(bwrap), *ring.scratch));
  all.push_back(from_launch("srt", "bwrap with the host's view, proxies for the network",
                            srt_launch(ring, "true", {}), *ring.scratch));
  return all;
}

}  // namespace coop::bench
