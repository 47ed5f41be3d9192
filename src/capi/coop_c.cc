// The C interface. No exception passes this file, and every answer is a string owned by the caller.
#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

#include "capi/requests.h"
#include "coop/coop.h"
#include "report/exec_json.h"
#include "report/status.h"
#include "report/text.h"
#include "run/prepare.h"
#include "sys/fd.h"

struct coop_tools {
  std::unique_ptr<coop::tools::Toolbox> toolbox;
};

namespace coop::capi {

namespace {

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

char* copy_of(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

std::string_view kind_of(const Error& error) {
  switch (error.kind) {
    case Error::Kind::system: return "system";
    case Error::Kind::invalid: return "invalid";
    case Error::Kind::unsupported: return "unsupported";
    case Error::Kind::refused: return "refused";
    case Error::Kind::timed_out: return "timed_out";
    case Error::Kind::unavailable: return "unavailable";
    case Error::Kind::internal: return "internal";
  }
  return "internal";
}

std::string error_text(const Error& error) {
  return text_of(
      {{"error",
        {{"kind", kind_of(error)}, {"message", to_text(error)}, {"hint", hint_of(error)}}}});
}

// Runs `work`, and returns its answer or the error to the caller.
int answer(char** json, const std::function<Result<std::string>()>& work) {
  Result<std::string> result = invalid("coop", "nothing was done");
  try {
    result = work();
  } catch (const std::exception& problem) {
    result = std::unexpected(Error{.operation = "coop", .subject = problem.what()});
  }
  if (json != nullptr) *json = copy_of(result ? *result : error_text(result.error()));
  return result ? COOP_OK : COOP_FAILED;
}

std::string or_empty(const char* text) { return text == nullptr ? "" : text; }

std::string trimmed(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// Kills the sandbox once `cancel_fd` is readable, until it is destroyed. Killing goes by a pidfd: any thread may.
class Canceller {
 public:
  static Result<std::unique_ptr<Canceller>> start(Sandbox& sandbox, int cancel_fd) {
    auto canceller = std::make_unique<Canceller>();
    if (cancel_fd < 0) return canceller;
    canceller->stop_.reset(::eventfd(0, EFD_CLOEXEC));
    if (!canceller->stop_.valid()) return system_error("eventfd");
    const int stop = canceller->stop_.get();
    canceller->thread_ = std::thread([&sandbox, cancel_fd, stop] {
      // Two descriptors until one is ready: an EventLoop would only add descriptors of its own.
      std::array<pollfd, 2> watched{pollfd{cancel_fd, POLLIN, 0}, pollfd{stop, POLLIN, 0}};
      while (::poll(watched.data(), watched.size(), -1) < 0 && errno == EINTR) {
      }
      if (watched[0].revents != 0) [[maybe_unused]]
        const Result<void> fails_only_in_a_fork = sandbox.kill();
    });
    return canceller;
  }
  Canceller() = default;
  Canceller(const Canceller&) = delete;
  Canceller& operator=(const Canceller&) = delete;
  ~Canceller() {
    if (!thread_.joinable()) return;
    ::eventfd_write(stop_.get(), 1);
    thread_.join();
  }

 private:
  UniqueFd stop_{};
  std::thread thread_{};
};

Result<tools::Toolbox*> toolbox_of(coop_tools* handle) {
  if (handle == nullptr) return invalid("tools", "it is NULL");
  return handle->toolbox.get();
}

}  // namespace

}  // namespace coop::capi

using namespace coop;        // NOLINT(google-build-using-namespace): what follows is C
using namespace coop::capi;  // NOLINT(google-build-using-namespace)

int coop_abi_version(void) { return COOP_ABI_VERSION; }
const char* coop_version(void) { return COOP_VERSION; }
void coop_free(char* text) { std::free(text); }

int coop_probe(char** json) {
  return answer(json, []() -> Result<std::string> {
    const HostFacts facts = TRY(probe());
    return trimmed(report::status_json(facts));
  });
}

int coop_exec(const char* request, int cancel_fd, char** json) {
  return answer(json, [&]() -> Result<std::string> {
    ExecRequest read = TRY(read_exec_request(or_empty(request)));
    if (read.policy.id.empty()) read.policy.id = run::new_id();
    const ExecOutput output =
        TRY(exec(read.policy, read.command, read.timeout, ExecHooks{.cancel_fd = cancel_fd}));
    return trimmed(report::exec_json(output, read.policy.id));
  });
}

int coop_run(const char* request, const int descriptors[3], int cancel_fd, char** json) {
  return answer(json, [&]() -> Result<std::string> {
    if (descriptors == nullptr) return invalid("descriptors", "they are NULL");
    ExecRequest read = TRY(read_exec_request(or_empty(request)));
    if (read.policy.id.empty()) read.policy.id = run::new_id();
    const Stdio stdio{.input = descriptors[0], .output = descriptors[1], .error = descriptors[2]};
    Sandbox sandbox = TRY(spawn(read.policy, read.command, stdio));
    const std::unique_ptr<Canceller> canceller = TRY(Canceller::start(sandbox, cancel_fd));
    const ExecOutput output = TRY(sandbox.wait(read.timeout));
    return trimmed(report::exec_json(output, read.policy.id));
  });
}

int coop_tools_open(const char* options, coop_tools** tools, char** json) {
  if (tools != nullptr) *tools = nullptr;
  return answer(json, [&]() -> Result<std::string> {
    if (tools == nullptr) return invalid("tools", "there is no place to put it");
    const tools::ToolsRequest request = TRY(read_tools_request(or_empty(options)));
    tools::OpenedTools made = TRY(tools::open_tools(request));
    std::unique_ptr<tools::Toolbox> opened = std::move(made.toolbox);
    opened->warm_up();
    const Json answer{{"trust", to_text(opened->trust())},
                      {"isolation", to_text(opened->isolation())},
                      {"workspace", opened->workspace()}};
    *tools = new coop_tools{std::move(opened)};
    return text_of(answer);
  });
}

int coop_tools_list(coop_tools* tools, char** json) {
  return answer(json, [&]() -> Result<std::string> {
    const tools::Toolbox* opened = TRY(toolbox_of(tools));
    Json list = Json::array();
    for (const tools::ToolInfo* tool : opened->tools())
      list.push_back({{"name", tool->name},
                      {"description", tool->description},
                      {"inputSchema", Json::parse(tool->schema)}});
    return text_of(list);
  });
}

int coop_tools_call(coop_tools* tools, const char* tool, const char* arguments, int cancel_fd,
                    char** json) {
  return answer(json, [&]() -> Result<std::string> {
    tools::Toolbox* opened = TRY(toolbox_of(tools));
    const Json read = arguments == nullptr ? Json::object() : parse_json(arguments);
    if (read.is_discarded()) return invalid("arguments", "this is not JSON");
    const tools::ToolOutput output =
        opened->call(or_empty(tool), read, tools::CallHooks{.cancel_fd = cancel_fd});
    return text_of(
        {{"text", output.text}, {"structured", output.structured}, {"failed", output.failed}});
  });
}

void coop_tools_close(coop_tools* tools) { delete tools; }
