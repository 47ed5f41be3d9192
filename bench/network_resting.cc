#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "arena.h"
#include "network.h"
#include "peers.h"
#include "processes.h"
#include "sys/fd.h"

namespace coop::bench {

namespace {

// A program that prints one line and runs until its input ends.
class Holder {
 public:
  static Result<Holder> start(Words words) {
    Pipe input = TRY(make_pipe());
    Pipe output = TRY(make_pipe());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    Holder holder;
    holder.pid_ = ::fork();
    if (holder.pid_ < 0) return system_error("fork");
    if (holder.pid_ == 0) {
      ::setrlimit(RLIMIT_NOFILE, &files);
      ::dup2(input.read.get(), STDIN_FILENO);
      ::dup2(output.write.get(), STDOUT_FILENO);
      ::execv(arguments.front(), arguments.data());
      ::_exit(127);
    }
    holder.input_ = std::move(input.write);
    holder.output_ = std::move(output.read);
    return holder;
  }
  Holder(Holder&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        input_(std::move(other.input_)),
        output_(std::move(other.output_)) {}
  Holder& operator=(Holder&&) = delete;
  ~Holder() {
    input_.reset();
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }

  Result<void> await_word() const {
    std::array<char, 64> word;
    if (::read(output_.get(), word.data(), word.size()) > 0) return {};
    return unsupported("network_load", "it could not open all connections");
  }

 private:
  Holder() = default;
  pid_t pid_ = -1;
  UniqueFd input_{};
  UniqueFd output_{};
};

Result<RestingRow> hold(const Ring& ring, const Path& place, std::size_t count) {
  const Words client{"./network_load", "rest",      "plain",
                     kServerAddress,   kServerPort, std::to_string(count)};
  const Clock::time_point start = Clock::now();
  const Holder holder =
      TRY(Holder::start(coop_launch(ring.coop, place, allowlist_flags(), client).arguments));
  TRY(holder.await_word());
  const double seconds = microseconds_since(start) / 1e6;
  const MemoryUse memory = memory_of(holder.pid());
  if (!memory.readable) return unsupported("coop", "its memory is not readable");
  return RestingRow{.wanted = count,
                    .seconds = seconds,
                    .resident_kib = memory.resident_kib,
                    .private_kib = memory.private_kib};
}

}  // namespace

RestingRow hold_connections(const Ring& ring, const Path& place, std::size_t count) {
  const Result<RestingRow> row = hold(ring, place, count);
  if (row) return *row;
  return RestingRow{.wanted = count, .trouble = ring.scratch->shown(to_text(row.error()))};
}

}  // namespace coop::bench
