// Runs a started sandbox to its end and keeps what it printed, within bounds.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "run/sandbox_state.h"
#include "sys/fd.h"

namespace coop::run {

// Keeps the first and the last half of what is appended, and counts all of it.
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

// Concludes; the caller releases. Takes the pipes' reading ends; the writing ends are closed here, so that their end shows.
// `extra`, when its descriptor is valid, is watched too, and told when it is readable.
struct Watched {
  int fd = -1;
  std::function<void()> ready{};
  std::function<void(Stream, std::string_view)> arrived{};  // told of everything that is read
};
Result<ExecOutput> capture(Sandbox::State& state, CapturePipes pipes,
                           std::optional<std::chrono::milliseconds> timeout,
                           const Watched& extra = {});
// With everything inside killed once the hooks' descriptor is readable.
Result<ExecOutput> capture(Sandbox::State& state, CapturePipes pipes,
                           std::optional<std::chrono::milliseconds> timeout,
                           const ExecHooks& hooks);

}  // namespace coop::run
