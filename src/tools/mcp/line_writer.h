// Messages to a client that may read slowly, or not at all: nobody who has one to send waits for it.
#pragma once

#include <memory>
#include <string>

namespace coop::tools::mcp {

class LineWriter {
 public:
  // Writes to `fd` from a thread of its own, which may outlive the writer when nobody reads.
  explicit LineWriter(int fd);
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  // Waits up to a second for what is left to be written.
  ~LineWriter();

  void write(std::string line);
  // Left out when the client is far behind: progress only.
  void write_if_read(std::string line);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace coop::tools::mcp
