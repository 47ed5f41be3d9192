// Runs a started sandbox to its end and captures its output, within bounds.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "run/sandbox_state.h"
#include "sys/fd.h"

namespace coop::run {

// Keeps the first and the last part of the appended text, and counts all of it.
class BoundedText {
 public:
  explicit BoundedText(std::uint64_t limit) : half_(static_cast<std::size_t>(limit / 2)) {}
  void append(std::string_view text);
  Captured take() &&;

 private:
  std::size_t half_;
  std::string head_{};
  std::string tail_{};  // a ring once it is full
  std::size_t tail_start_ = 0;
  std::uint64_t total_ = 0;
};

struct CapturePipes {
  Pipe output;
  Pipe error;
  static Result<CapturePipes> make();
  // The command's ends; its input is /dev/null.
  Stdio stdio() const { return {-1, output.write.get(), error.write.get()}; }
};

// Both streams of a run, kept within bounds as they arrive.
class CapturedStreams {
 public:
  using Arrived = std::function<void(Stream, std::string_view)>;  // told of everything that is read

  // Closes the pipes' write ends, so that the end of the streams shows: the command has its copies.
  CapturedStreams(CapturePipes pipes, std::uint64_t limit, Arrived arrived);
  CapturedStreams(const CapturedStreams&) = delete;
  CapturedStreams& operator=(const CapturedStreams&) = delete;

  // Must outlive what `loop` runs.
  Result<void> join(EventLoop& loop);
  // Reads what is there without waiting for more.
  void finish(ExecOutput& output);

 private:
  struct One {
    UniqueFd fd;
    Stream stream;
    BoundedText text;
  };
  bool read_some(One& one) const;

  std::array<One, 2> streams_;
  Arrived arrived_;
};

// Runs to the end, and collects the result; the caller releases.
Result<ExecOutput> capture(EventLoop& loop, Sandbox::State& state, CapturePipes pipes,
                           std::optional<std::chrono::milliseconds> timeout,
                           const ExecHooks& hooks = {});

}  // namespace coop::run
