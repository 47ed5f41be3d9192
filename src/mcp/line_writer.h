// Writes messages to a client that may read slowly, or not at all, without blocking the sender.
#pragma once

#include <memory>
#include <string>

namespace coop::mcp {

class LineWriter {
 public:
  // Writes to `fd` from its own thread, which may outlive the writer if the client does not read.
  explicit LineWriter(int fd);
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  // Waits up to a second for pending output.
  ~LineWriter();

  void write(std::string line);
  // Dropped when the client is far behind: for progress only.
  void write_if_read(std::string line);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace coop::mcp
