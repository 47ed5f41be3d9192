// One principal's tools: which it may call, and where they run.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "coop/sandbox.h"
#include "policy/people/trust.h"
#include "tools/tool.h"

namespace coop::tools {

enum class OnLeak : std::uint8_t { redact, block, terminate };

// Where commands run.
enum class Isolation : std::uint8_t {
  sandbox,
  bypass,    // the owner's own
  disabled,  // a configuration disables the sandbox
};
std::string_view to_text(Isolation isolation);

// Shared by the toolboxes that one server opens one after the other, whatever configuration each has.
struct SharedState {
  std::atomic<int> running = 0;          // calls: their commands can write to the workspace
  std::atomic<bool> terminated = false;  // a leak under OnLeak::terminate
  std::mutex making_tmp{};
  std::shared_ptr<SharedTmp> tmp{};  // of the last that has asked for one
  std::string tmp_user{};            // whose it is: another principal gets another
};

// What is in /tmp when a call begins.
enum class KeptTmp : std::uint8_t { none, between_calls };

// Whether sandboxes are prepared for further calls.
enum class Calls : std::uint8_t { many, one };

// What a tool works through: the files of the sandbox's view need no command.
enum class Reach : std::uint8_t { files, command, network };

struct ToolboxOptions {
  policy::TrustLevel trust = policy::TrustLevel::full;
  std::string user{};  // for records; empty: the agent itself
  Policy policy{};     // of the sandbox; its workspace must be set
  // False only if a configuration disables the sandbox; then all tools run on the host.
  bool sandbox_enabled = true;
  bool owner_bypass = true;  // false: the owner's tools are sandboxed like those of others
  OnLeak on_leak = OnLeak::redact;
  // A single call of this kind follows. For files the view is made at once, which plans the sandbox: planning it before,
  // to see whether the policy works, would be done twice.
  Reach first = Reach::command;
  // Of one call: no sandbox is prepared. Preparing one and looking again before it is used would be two more looks
  // through the workspace, and the next one would never be used.
  Calls calls = Calls::many;
  Logger* log = nullptr;  // outlives the toolbox; null: nothing is logged
  KeptTmp tmp = KeptTmp::none;
  std::shared_ptr<SharedState> shared = std::make_shared<SharedState>();
};

// What a tool does to the workspace.
enum class Effect : std::uint8_t { changes, reads_only };

struct ToolContext;

// One tool: a new one is a row of this in table.cc and its function.
struct ToolInfo {
  std::string_view name;
  policy::TrustLevel least;  // that may call it
  Effect effect;
  ToolOutput (*run)(const ToolContext& context, const Json& arguments);
  std::string_view description;
  std::string_view schema;   // JSON Schema of the arguments
  std::string_view returns;  // what `structured` of the answer has besides "outcome"; for people
  std::string_view output;   // the same as properties of a JSON Schema
  Reach reach = Reach::files;
};

// Every tool, in the order of policy::kTools.
std::span<const ToolInfo> tool_table();
const ToolInfo* find_tool(std::string_view name);
// JSON Schema of `structured` with the text; a refusal fits it too.
Json output_schema(const ToolInfo& tool);
std::vector<const ToolInfo*> tools_for(policy::TrustLevel trust);

struct CallHooks {
  std::function<void(std::string_view)> progress{};  // live output, already free of leaks
  int cancel_fd = -1;
};

class Toolbox {
 public:
  // Creates only the view: the first command creates the sandboxes.
  static Result<std::unique_ptr<Toolbox>> open(ToolboxOptions options);
  ~Toolbox();

  // The tools that this trust level may use.
  std::vector<const ToolInfo*> tools() const;
  Isolation isolation() const;
  bool sandboxed() const { return isolation() == Isolation::sandbox; }
  policy::TrustLevel trust() const;
  const Path& workspace() const;  // as its tools name it
  // For the model: where it is, and which rules apply.
  std::string instructions() const;
  bool terminated() const;  // a leak under OnLeak::terminate: all further calls are refused

  // Never an error: failures are in the answer. Thread-safe.
  ToolOutput call(std::string_view name, const Json& arguments, const CallHooks& hooks = {});

  // Prepares the first sandbox in advance. A failure is reported by the first call.
  void warm_up();

  struct State;
  explicit Toolbox(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace coop::tools
