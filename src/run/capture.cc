#include "run/capture.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace coop::run {

void BoundedText::append(std::string_view text) {
  total_ += text.size();
  const std::size_t room = std::min(text.size(), half_ - head_.size());
  head_ += text.substr(0, room);
  text.remove_prefix(room);
  if (text.size() > half_) text.remove_prefix(text.size() - half_);
  const std::size_t grow = std::min(text.size(), half_ - tail_.size());
  tail_ += text.substr(0, grow);
  text.remove_prefix(grow);
  for (const char c : text) {
    tail_[tail_start_] = c;
    tail_start_ = (tail_start_ + 1) % half_;
  }
}

Captured BoundedText::take() && {
  std::rotate(tail_.begin(), tail_.begin() + static_cast<std::ptrdiff_t>(tail_start_), tail_.end());
  Captured captured{.total_bytes = total_};
  const std::uint64_t kept = head_.size() + tail_.size();
  captured.truncated = kept < total_;
  captured.text = std::move(head_);
  if (captured.truncated)
    captured.text += "\n[… " + std::to_string(total_ - kept) + " bytes cut …]\n";
  captured.text += tail_;
  return captured;
}

Result<CapturePipes> CapturePipes::make() {
  Pipe output = TRY(make_pipe());
  Pipe error = TRY(make_pipe());
  return CapturePipes{std::move(output), std::move(error)};
}

namespace {

// False at the end of the stream.
bool drain(int fd, BoundedText& text, Stream stream, const Watched& extra) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  const std::string_view piece(buffer.data(), static_cast<std::size_t>(count));
  text.append(piece);
  if (extra.arrived && count > 0) extra.arrived(stream, piece);
  return count > 0;
}

}  // namespace

Result<ExecOutput> capture(Sandbox::State& state, CapturePipes pipes,
                           std::optional<std::chrono::milliseconds> timeout, const Watched& extra) {
  pipes.output.write.reset();
  pipes.error.write.reset();
  const Limits& limits = state.prepared.plan.limits;
  const Deadline deadline = deadline_after(timeout ? timeout : limits.timeout);
  BoundedText output(limits.output_limit);
  BoundedText error(limits.output_limit);
  Ending ending = Ending::by_itself;
  pollfd watched[5] = {{pipes.output.read.get(), POLLIN, 0},
                       {pipes.error.read.get(), POLLIN, 0},
                       {state.launched.control.get(), POLLIN, 0},
                       {state.launched.pidfd.get(), POLLIN, 0},
                       {extra.fd, POLLIN, 0}};
  // Until nothing inside runs any more. Then nobody inside holds the streams; if someone outside
  // does (they were passed on), we do not wait for that.
  while (watched[3].fd >= 0 && !(ending == Ending::by_itself && is_alone(state))) {
    const int count =
        TRY(await(state, watched, ending == Ending::by_itself ? deadline : std::nullopt));
    if (count == 0) {
      ending = Ending::timed_out;
      kill_all(state);
      continue;
    }
    if (count < 0) continue;
    if (watched[0].revents != 0 && !drain(watched[0].fd, output, Stream::output, extra))
      watched[0].fd = -1;
    if (watched[1].revents != 0 && !drain(watched[1].fd, error, Stream::error, extra))
      watched[1].fd = -1;
    if (watched[2].revents != 0 && !read_report(state)) watched[2].fd = -1;
    if (watched[3].revents != 0) watched[3].fd = -1;
    if (watched[4].revents != 0) {
      extra.ready();
      watched[4].fd = extra.fd;  // once may have been enough
    }
  }
  while (watched[0].fd >= 0 && ::poll(&watched[0], 1, 0) > 0 &&
         drain(watched[0].fd, output, Stream::output, extra)) {
  }
  while (watched[1].fd >= 0 && ::poll(&watched[1], 1, 0) > 0 &&
         drain(watched[1].fd, error, Stream::error, extra)) {
  }
  ExecOutput done = TRY(conclude(state, ending));
  done.standard_output = std::move(output).take();
  done.standard_error = std::move(error).take();
  return done;
}

Result<ExecOutput> capture(Sandbox::State& state, CapturePipes pipes,
                           std::optional<std::chrono::milliseconds> timeout,
                           const ExecHooks& hooks) {
  if (state.network) state.network->set_hook(hooks.network);
  Watched watched{.fd = hooks.cancel_fd, .arrived = hooks.arrived};
  watched.ready = [&] {
    watched.fd = -1;
    kill_all(state);
  };
  return capture(state, std::move(pipes), timeout, watched);
}

}  // namespace coop::run
