#include "tools/toolbox.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/nearest.h"
#include "base/path.h"
#include "base/redact.h"
#include "host/environment.h"
#include "leaks/leaks.h"
#include "policy/merge/bounded.h"
#include "report/text.h"
#include "run/prepare.h"
#include "run/start/shared_tmp.h"
#include "tools/arguments.h"
#include "tools/files/identity.h"
#include "tools/shell/host_exec.h"
#include "tools/tool_context.h"

namespace coop::tools {

namespace {

constexpr std::string_view kSpan = "tool_execute";
constexpr std::string_view kExecSpan = "tool_execute/sandbox_exec";

// What of the environment must never come out of a tool.
std::vector<leaks::LeakScanner::Known> known_secrets(const Policy& policy) {
  std::vector<leaks::LeakScanner::Known> known;
  for (const auto& [name, value] : host::read_environment())
    if (names_a_secret(name)) known.push_back({name, value});
  for (const auto& [name, value] : policy.set_environment)
    if (names_a_secret(name)) known.push_back({name, value});
  return known;
}

std::string names_of(const std::vector<leaks::Leak>& leaks) {
  std::string text;
  for (const leaks::Leak& leak : leaks)
    if (text.find(leak.name) == std::string::npos)
      text +=
          (text.empty() ? "" : ", ") + leak.name + " (" + std::string(to_text(leak.encoding)) + ")";
  return text;
}

// Every string in it as it is meant, names too: quoting for JSON would hide a value that has a quote in it.
void gather(const Json& value, std::string& texts) {
  if (value.is_string()) texts += value.get_ref<const std::string&>() + "\n\n";
  if (!value.is_structured()) return;
  for (const auto& [key, item] : value.items()) {
    if (value.is_object()) texts += key + "\n\n";
    gather(item, texts);
  }
}

Isolation isolation_of(const ToolboxOptions& options) {
  if (!options.sandbox_enabled) return Isolation::disabled;
  const bool bypass = options.owner_bypass && !policy::is_sandboxed(options.trust);
  return bypass ? Isolation::bypass : Isolation::sandbox;
}

// What the policy allows any call: the organisation's bound holds whatever a narrower file says.
Limits limits_of_calls(const Policy& policy) {
  Limits limits = policy.limits;
  if (policy.bounds.timeout)
    limits.timeout =
        std::min(limits.timeout.value_or(*policy.bounds.timeout), *policy.bounds.timeout);
  return limits;
}

Result<FileView> view_of(const ToolboxOptions& options, const FileView* former) {
  return isolation_of(options) == Isolation::sandbox ? FileView::of_sandbox(options.policy, former)
                                                     : FileView::of_host(options.policy.workspace);
}

struct Places {
  Path workspace{};  // on the host
  Path inside{};     // as commands know it
  bool keeps_tmp = false;
};

Places places_of(const FileView& view) {
  return {view.workspace(), view.workspace_inside(), view.keeps_tmp()};
}

// An error for a policy that cannot work.
Result<Places> places_of(const ToolboxOptions& options) {
  if (isolation_of(options) != Isolation::sandbox) {
    const FileView view = TRY(FileView::of_host(options.policy.workspace));
    return places_of(view);
  }
  run::Draft draft = TRY(run::begin_prepare(options.policy));
  draft.looks.emplace();  // nothing runs by this plan: what runs, looks for guards itself
  const run::Prepared prepared = TRY(run::finish_prepare(std::move(draft)));
  return Places{prepared.policy.workspace, prepared.plan.workspace, keeps_tmp(prepared.plan)};
}

// One for each principal, whatever configuration the server reads next; of the size that now holds.
Result<std::shared_ptr<SharedTmp>> tmp_of(const ToolboxOptions& options) {
  SharedState& shared = *options.shared;
  const std::lock_guard lock(shared.making_tmp);
  if (shared.tmp != nullptr && shared.tmp_user == options.user &&
      shared.tmp->fits(options.policy.limits))
    return shared.tmp;
  shared.tmp = TRY(SharedTmp::make(options.policy.limits));
  shared.tmp_user = options.user;
  return shared.tmp;
}

// Without one each call has an empty /tmp, as with `coop run`.
void share_tmp(ToolboxOptions& options) {
  if (options.tmp == KeptTmp::none || isolation_of(options) != Isolation::sandbox ||
      !policy::may_use(options.trust, "bash"))
    return;
  Result<std::shared_ptr<SharedTmp>> tmp = tmp_of(options);
  if (tmp) options.policy.shared_tmp = std::move(*tmp);
  else if (options.log != nullptr)
    options.log->write(LogLevel::warn, kSpan,
                       "/tmp is not kept between calls: " + to_text(tmp.error()));
}

LogValue limit_value(const std::optional<std::uint64_t>& limit) {
  if (limit) return static_cast<std::int64_t>(*limit);
  return std::string("unlimited");
}

class Running {
 public:
  explicit Running(SharedState& shared) : shared_(shared) { ++shared_.running; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { --shared_.running; }

 private:
  SharedState& shared_;
};

// A file that has just appeared and is to be hidden is hidden from the next call on. Guards go by names, whenever they
// were looked for.
std::chrono::milliseconds good_for(const Policy& policy) {
  const auto may_hide_more = [](const PathRule& rule) {
    return rule.pattern && rule.kind == RuleKind::hide;
  };
  return std::chrono::milliseconds(std::ranges::any_of(policy.rules, may_hide_more) ? 0 : 1000);
}

}  // namespace

std::string_view to_text(Isolation isolation) {
  switch (isolation) {
    case Isolation::sandbox: return "sandbox";
    case Isolation::bypass: return "bypass";
    case Isolation::disabled: return "disabled";
  }
  return "sandbox";
}

struct Toolbox::State {
  ToolboxOptions options;
  Limits limits;  // of any call
  ViewCache files;
  Path workspace;
  Path workspace_inside;
  bool keeps_tmp;
  leaks::LeakScanner scanner;
  std::mutex making{};
  std::optional<Pool> pool{};
  std::atomic<bool> lacks_bash = false;

  State(ToolboxOptions chosen, Limits of_calls, Places places, leaks::LeakScanner leaks)
      : options(std::move(chosen)),
        limits(std::move(of_calls)),
        files([this](const FileView* former) { return view_of(options, former); },
              good_for(options.policy)),
        workspace(std::move(places.workspace)),
        workspace_inside(std::move(places.inside)),
        keeps_tmp(places.keeps_tmp),
        scanner(std::move(leaks)) {}

  bool on_host() const { return isolation_of(options) != Isolation::sandbox; }

  void log(LogLevel level, std::string_view span, std::string_view message,
           std::initializer_list<LogField> fields) const {
    if (options.log != nullptr) options.log->write(level, span, message, std::vector(fields));
  }

  std::string_view exec_span() const { return on_host() ? kSpan : kExecSpan; }

  // Not its arguments: they often contain tokens.
  void log_start(const Command& command, std::chrono::milliseconds timeout) const {
    const Policy& policy = options.policy;
    log(LogLevel::debug, exec_span(), "starting a command",
        {{"program", command.arguments.front()},
         {"arguments", static_cast<std::int64_t>(command.arguments.size() - 1)},
         {"user", options.user},
         {"view", std::string(coop::to_text(policy.view))},
         {"network", std::string(coop::to_text(policy.network))},
         {"memory", limit_value(policy.limits.memory)},
         {"pids", limit_value(policy.limits.pids)},
         {"timeout_ms", std::int64_t{timeout.count()}}});
  }

  void log_end(const Result<ExecOutput>& output) const {
    if (!output) return log(LogLevel::error, exec_span(), to_text(output.error()), {});
    for (const std::string& note : output->notes) log(LogLevel::warn, exec_span(), note, {});
    for (const Quarantined& moved : output->quarantined)
      log(LogLevel::warn, exec_span(), "quarantined a guarded file",
          {{"path", moved.path}, {"rule", "guard " + moved.guard}});
    log(LogLevel::debug, exec_span(), "the command has ended",
        {{"outcome", std::string(coop::to_text(output->outcome))},
         {"exit_code", std::int64_t{output->exit_code}},
         {"wall_us", std::int64_t{output->usage.wall.count()}},
         {"peak_memory", static_cast<std::int64_t>(output->usage.peak_memory)}});
  }

  void log_network(const NetworkEvent& event) const {
    log(event.allowed ? LogLevel::info : LogLevel::warn, "network", "network",
        {{"kind", std::string(coop::to_text(event.kind))},
         {"host", printable(event.host)},
         {"port", std::int64_t{event.port}},
         {"address", event.address},
         {"verdict", event.allowed ? "allowed" : "denied"},
         {"rule", report::to_text(event.rule)},
         {"grant", report::plain_text(event.grant)},
         {"problem", event.problem},
         {"sent", static_cast<std::int64_t>(event.sent)},
         {"received", static_cast<std::int64_t>(event.received)}});
  }

  // Fails closed: without a sandbox no command runs; the call returns the reason.
  Result<Pool*> warm_pool() {
    const std::lock_guard lock(making);
    if (!pool) {
      Result<Pool> made = Pool::create(options.policy, 1);
      if (!made) {
        log(LogLevel::error, kExecSpan, to_text(made.error()), {{"user", options.user}});
        return with_context("the sandbox cannot be made, and nothing runs without it",
                            Result<Pool*>(std::unexpected(made.error())));
      }
      pool.emplace(std::move(*made));
    }
    return &*pool;
  }

  // A published port belongs to one sandbox: a prepared one would take it from the running one.
  bool keeps_warm() const { return options.calls == Calls::many && options.policy.publish.empty(); }

  Result<ExecOutput> run_inside(const Command& command, std::chrono::milliseconds timeout,
                                const ExecHooks& hooks) {
    if (!keeps_warm()) return exec(options.policy, command, timeout, hooks);
    Pool* const ready = TRY(warm_pool());
    return ready->exec(command, timeout, hooks);
  }

  Runner runner(const ExecHooks& hooks) {
    return [this, hooks](const Command& command,
                         std::chrono::milliseconds timeout) -> Result<ExecOutput> {
      log_start(command, timeout);
      Result<ExecOutput> output = std::unexpected(Error{});
      if (on_host()) {
        output = exec_on_host(command, options.policy.workspace, timeout,
                              options.policy.limits.output_limit, hooks);
      } else {
        output = run_inside(command, timeout, hooks);
        files.outdate();  // the command may have created files to hide or guard
      }
      log_end(output);
      return output;
    };
  }

  ShellPlace place() {
    const bool outside = on_host();
    const auto variables = host::read_environment();
    const auto path = variables.find("PATH");
    const Policy& policy = options.policy;
    ShellPlace place{
        .view = [this] { return files.get(); },
        .workspace = outside ? workspace : workspace_inside,
        // On the host these would let anyone who can write to the workspace run programs as the owner.
        .tools = outside ? Path() : join(workspace_inside, "tools/bin"),
        .path = outside && path != variables.end()
                    ? path->second
                    : "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        .timeout = limits.timeout.value_or(kDefaultTimeout),
        .longest = limits.timeout,
        .lacks_bash = &lacks_bash};
    if (outside && ::access("/bin/bash", X_OK) < 0) lacks_bash = true;
    // An organisation that says which variables there are decides about PATH too.
    if (!outside && !policy::check_environment({{"PATH", ""}}, policy.bounds)) place.path.reset();
    return place;
  }

  ToolContext context(const ExecHooks& hooks) {
    return {.view = [this] { return files.get(); },
            .place = [this] { return place(); },
            .runner = runner(hooks),
            .limits = limits,
            .sandbox = on_host() ? nullptr : &options.policy};
  }

  // A call whose arguments contain a secret is refused.
  std::optional<ToolOutput> refuse_leaks(std::string_view name, const Json& arguments) {
    std::string texts;
    gather(arguments, texts);
    const std::vector<leaks::Leak> leaks = scanner.find(texts);
    if (leaks.empty()) return std::nullopt;
    log(LogLevel::warn, kSpan, "a call carried a secret and was not made",
        {{"tool", std::string(name)}, {"secret", names_of(leaks)}});
    if (options.on_leak == OnLeak::terminate) options.shared->terminated = true;
    return refusal("the arguments contain a secret: " + names_of(leaks) + "; the call was not made",
                   Rule::of_coop(Part::leak_guard));
  }

  // Removes secrets from a tool's result.
  ToolOutput guard(ToolOutput output) {
    const std::vector<leaks::Leak> in_text = scanner.find(output.text);
    bool found = !in_text.empty();
    Json structured = cleaned(output.structured, found);
    if (!found) return output;
    const std::string names = in_text.empty() ? "in the structured result" : names_of(in_text);
    log(LogLevel::warn, kSpan, "a result contained a secret", {{"secret", names}});
    // A file with replaced parts is not the same file any more.
    const bool whole = output.structured.contains("data");
    if (options.on_leak != OnLeak::redact || whole) {
      if (options.on_leak == OnLeak::terminate) options.shared->terminated = true;
      return refusal("the result contains a secret (" + names + ") and is withheld",
                     Rule::of_coop(Part::leak_guard));
    }
    output.text = leaks::redacted(output.text, in_text) +
                  "\n[leak guard: a secret was replaced: " + names + "]";
    output.structured = std::move(structured);
    output.structured["redacted"] = true;
    return output;
  }

  // Every string in it except keys, which are ours.
  Json cleaned(const Json& value, bool& found) const {
    if (value.is_string()) {
      const std::string& text = value.get_ref<const std::string&>();
      const std::vector<leaks::Leak> leaks = scanner.find(text);
      if (leaks.empty()) return value;
      found = true;
      return leaks::redacted(text, leaks);
    }
    if (!value.is_structured()) return value;
    Json result = value;
    for (auto& item : result) item = cleaned(item, found);
    return result;
  }
};

Toolbox::Toolbox(std::unique_ptr<State> state) : state_(std::move(state)) {}
Toolbox::~Toolbox() = default;

Result<std::unique_ptr<Toolbox>> Toolbox::open(ToolboxOptions options) {
  const Limits limits = limits_of_calls(options.policy);
  options.policy.limits.output_limit = std::min(limits.output_limit, kOutputLimit);
  if (isolation_of(options) == Isolation::sandbox)
    for (PathRule& rule : identity_rules(options.policy.workspace))
      options.policy.rules.push_back(std::move(rule));
  share_tmp(options);
  std::optional<FileView> view;
  if (options.first == Reach::files) {
    FileView made = TRY(view_of(options, nullptr));
    view.emplace(std::move(made));
  }
  Places places;
  if (view) places = places_of(*view);
  else places = TRY(places_of(options));
  leaks::LeakScanner scanner = TRY(leaks::LeakScanner::create(known_secrets(options.policy)));
  auto state =
      std::make_unique<State>(std::move(options), limits, std::move(places), std::move(scanner));
  if (view) state->files.put(*std::move(view));
  if (state->on_host())
    state->log(LogLevel::warn, kSpan,
               state->options.sandbox_enabled ? "the owner bypasses the sandbox"
                                              : "the sandbox is disabled by the configuration",
               {{"user", state->options.user},
                {"isolation", std::string(to_text(isolation_of(state->options)))}});
  return std::make_unique<Toolbox>(std::move(state));
}

std::vector<const ToolInfo*> tools_for(policy::TrustLevel trust) {
  std::vector<const ToolInfo*> allowed;
  for (const ToolInfo& tool : tool_table())
    if (trust <= tool.least) allowed.push_back(&tool);
  return allowed;
}

std::vector<const ToolInfo*> Toolbox::tools() const { return tools_for(state_->options.trust); }

Isolation Toolbox::isolation() const { return isolation_of(state_->options); }
policy::TrustLevel Toolbox::trust() const { return state_->options.trust; }
const Path& Toolbox::workspace() const {
  return state_->on_host() ? state_->workspace : state_->workspace_inside;
}

std::string Toolbox::instructions() const {
  const std::string start = "Tools work in the workspace " + printable(workspace()) + ". ";
  switch (isolation()) {
    case Isolation::disabled:
      return start +
             "The sandbox is DISABLED by the configuration: commands run on the host itself.";
    case Isolation::bypass:
      return start + "Commands run on the host itself, without a sandbox: the caller is its owner.";
    case Isolation::sandbox: break;
  }
  const bool network = state_->options.policy.network != NetworkMode::none;
  return start + "Commands run in a sandbox: " +
         (network ? "the network is as the policy says" : "there is no network") +
         ", and nothing outside the workspace can be changed. " +
         (state_->keeps_tmp ? "/tmp is private and keeps its files between calls. "
                            : "/tmp is private and empty at each call. ") +
         "What is refused comes with the rule "
         "and with "
         "what the owner could allow.";
}
bool Toolbox::terminated() const { return state_->options.shared->terminated; }

void Toolbox::warm_up() {
  if (state_->on_host() || !state_->keeps_warm()) return;
  if (!policy::may_use(state_->options.trust, "bash")) return;
  [[maybe_unused]] const Result<Pool*> shown_at_the_first_call = state_->warm_pool();
}

ToolOutput Toolbox::call(std::string_view name, const Json& arguments, const CallHooks& hooks) {
  const ToolInfo* const tool = find_tool(name);
  if (tool == nullptr) {
    std::vector<std::string_view> names;
    for (const ToolInfo& one : tool_table()) names.push_back(one.name);
    const std::string_view near = nearest(name, names);
    return refusal("there is no tool \"" + printable(name) + "\"" +
                   (near.empty() ? "" : "; did you mean " + std::string(near) + "?"));
  }
  if (terminated())
    return refusal("the leak guard ended this toolbox", Rule::of_coop(Part::leak_guard));
  if (state_->options.trust > tool->least)
    return refusal(std::string(name) + " needs the trust " + std::string(to_text(tool->least)) +
                       "; this is " + std::string(to_text(state_->options.trust)) +
                       ", and the owner can give more in coop.toml: trust = \"" +
                       std::string(to_text(tool->least)) + "\"",
                   Rule::of_coop(Part::trust));
  const Json schema = Json::parse(tool->schema);
  if (const Result<void> checked = check_arguments(arguments, schema); !checked)
    return refusal(checked.error());
  if (std::optional<ToolOutput> refused = state_->refuse_leaks(name, arguments)) return *refused;
  state_->log(LogLevel::info, kSpan, "calling a tool",
              {{"tool", std::string(name)},
               {"user", state_->options.user},
               {"trust", std::string(to_text(state_->options.trust))},
               {"isolation", std::string(to_text(isolation()))}});
  std::array<leaks::LeakStream, 2> live{leaks::LeakStream(state_->scanner),
                                        leaks::LeakStream(state_->scanner)};
  const auto arrived = [&](Stream stream, std::string_view piece) {
    if (!hooks.progress) return;
    const std::string clean = live[stream == Stream::output ? 0 : 1].feed(piece);
    if (!clean.empty()) hooks.progress(clean);
  };
  const ToolContext context = state_->context(
      ExecHooks{.arrived = arrived,
                .network = [this](const NetworkEvent& event) { state_->log_network(event); },
                .cancel_fd = hooks.cancel_fd});
  const Running running(*state_->options.shared);
  const auto begin = std::chrono::steady_clock::now();
  ToolOutput output = state_->guard(tool->run(context, arguments));
  const auto latency = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  state_->log(LogLevel::info, kSpan, "the tool has answered",
              {{"tool", std::string(name)},
               {"user", state_->options.user},
               {"outcome", output.structured.value("outcome", "")},
               {"failed", output.failed},
               {"latency_us", std::int64_t{latency.count()}}});
  if (state_->on_host()) output.structured["isolation"] = to_text(isolation());
  return output;
}

}  // namespace coop::tools
