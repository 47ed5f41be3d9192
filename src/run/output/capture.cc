#include "run/output/capture.h"

#include <sys/epoll.h>
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

CapturedStreams::CapturedStreams(CapturePipes pipes, std::uint64_t limit, Arrived arrived)
    : streams_{One{std::move(pipes.output.read), Stream::output, BoundedText(limit)},
               One{std::move(pipes.error.read), Stream::error, BoundedText(limit)}},
      arrived_(std::move(arrived)) {}

Result<void> CapturedStreams::join(EventLoop& loop) {
  for (One& one : streams_)
    TRY(loop.watch(one.fd.get(), EPOLLIN, [this, &loop, &one](std::uint32_t) {
      if (read_some(one)) return;
      loop.forget(one.fd.get());
      one.fd.reset();
    }));
  return {};
}

// False at EOF.
bool CapturedStreams::read_some(One& one) const {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(one.fd.get(), buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  const std::string_view piece(buffer.data(), static_cast<std::size_t>(count));
  one.text.append(piece);
  if (arrived_ && count > 0) arrived_(one.stream, piece);
  return count > 0;
}

void CapturedStreams::finish(ExecOutput& output) {
  for (One& one : streams_)
    while (one.fd.valid() && is_ready(one.fd.get()) && read_some(one)) {
    }
  output.standard_output = std::move(streams_[0].text).take();
  output.standard_error = std::move(streams_[1].text).take();
}

Result<ExecOutput> capture(EventLoop& loop, Sandbox::State& state, CapturePipes pipes,
                           std::optional<std::chrono::milliseconds> timeout,
                           const ExecHooks& hooks) {
  if (state.network && hooks.network) state.network->set_hook(hooks.network);
  const Limits& limits = state.prepared.plan.limits;
  CapturedStreams streams(std::move(pipes), limits.output_limit, hooks.arrived);
  TRY(streams.join(loop));
  // Until no process inside runs. Then no process inside holds the streams; if one outside does
  // (they were passed on), do not wait for it.
  const Ending ending = TRY(supervise(loop, state,
                                      {.deadline = deadline_of(state, timeout),
                                       .cancel_fd = hooks.cancel_fd,
                                       .over = [&state] { return is_alone(state); }}));
  ExecOutput ended;
  streams.finish(ended);
  ExecOutput output = TRY(collect_result(state, ending));
  output.standard_output = std::move(ended.standard_output);
  output.standard_error = std::move(ended.standard_error);
  return output;
}

}  // namespace coop::run
