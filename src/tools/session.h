// One principal's tools: what it may call, and where that happens.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "coop/sandbox.h"
#include "policy/trust.h"
#include "tools/tool.h"

namespace coop::tools {

enum class OnLeak : std::uint8_t { redact, block, terminate };

// Where commands run.
enum class Isolation : std::uint8_t {
  sandbox,
  bypass,    // the owner's own
  disabled,  // a configuration says so in writing
};
std::string_view to_text(Isolation isolation);

struct SessionOptions {
  policy::TrustLevel trust = policy::TrustLevel::full;
  std::string user{};  // for records; empty: the agent itself
  Policy policy{};     // of the sandbox; its workspace must be set
  // Off only where a configuration says so in writing; then tools of everyone run on the host.
  bool sandbox_enabled = true;
  OnLeak on_leak = OnLeak::redact;
  Logger* log = nullptr;  // outlives the session; null: nothing is logged
};

struct ToolInfo {
  std::string_view name;
  std::string_view description;
  std::string_view schema;  // JSON Schema of the arguments
  policy::TrustLevel least = policy::TrustLevel::owner;
  bool reads_only = false;
};

// Every tool there is, in the order of policy::tools().
std::span<const ToolInfo> tool_table();

struct CallHooks {
  std::function<void(std::string_view)> progress{};  // live output, already free of leaks
  int cancel_fd = -1;
};

class Session {
 public:
  // Makes nothing but the view: the first command makes the sandboxes.
  static Result<std::unique_ptr<Session>> open(SessionOptions options);
  ~Session();

  // Those this trust may use.
  std::vector<const ToolInfo*> tools() const;
  Isolation isolation() const;
  bool sandboxed() const { return isolation() == Isolation::sandbox; }
  policy::TrustLevel trust() const;
  const Path& workspace() const;  // as its tools name it
  // For the model: where it is, and what holds there.
  std::string instructions() const;
  bool terminated() const;  // a leak under OnLeak::terminate: nothing is called any more

  // Never an error: what went wrong is in the answer. Many threads may call at once.
  ToolOutput call(std::string_view name, const Json& arguments, const CallHooks& hooks = {});

  // Prepares the first sandbox now, while the caller still thinks. A failure shows at the first call.
  void warm_up();

  struct State;
  explicit Session(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace coop::tools
