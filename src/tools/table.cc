// Every tool: what it is for, what it takes and gives, who may call it, and its function.
#include <algorithm>
#include <array>
#include <optional>

#include "host/probe.h"
#include "sys/capabilities.h"
#include "tools/files/file_tools.h"
#include "tools/tool_context.h"
#include "tools/toolbox.h"
#include "tools/web/fetch_tool.h"

namespace coop::tools {

namespace {

using policy::TrustLevel;

template <auto tool>
ToolOutput in_shell(const ToolContext& context, const Json& arguments) {
  return tool(context.place(), context.runner, arguments);
}

template <auto tool>
ToolOutput on_files(const ToolContext& context, const Json& arguments) {
  const Result<FileView> view = context.view();
  if (!view) return refusal(view.error());
  // As commands are: else root's tools would read what root's commands may not.
  std::optional<WithoutCapabilities> confined;
  if (context.sandbox != nullptr) confined.emplace();
  return tool(*view, arguments);
}

// One policy for all tools: a tool does not fetch what a command may not reach.
ToolOutput fetch(const ToolContext& context, const Json& arguments) {
  FetchLimits most;
  most.time = std::min(most.time, context.limits.timeout.value_or(most.time));
  most.size = std::min<std::uint64_t>(most.size, context.limits.output_limit);
  if (context.sandbox == nullptr) return fetch_url(arguments, system_resolver(), {}, most);
  HostFacts facts;
  if (const Result<void> found = host::inspect_networks(facts); !found)
    return refusal(found.error());
  return fetch_url(arguments, system_resolver(), fetch_rules(*context.sandbox, facts.networks),
                   most);
}

// What the answers of commands have.
constexpr std::string_view kCommandGives = R"json({
"exit_code":{"type":"integer"},
"stdout":{"$ref":"#/$defs/captured"},"stderr":{"$ref":"#/$defs/captured"},
"wall_ms":{"type":"integer","description":"milliseconds"},
"quarantined":{"type":"array","items":{"type":"object"},"description":"guarded files that were taken away"},
"quarantined_total":{"type":"integer"},
"notes":{"type":"array","items":{"type":"string"}}})json";

// What any answer may have.
constexpr std::string_view kAllGive = R"json({
"outcome":{"type":"string","description":"ok; how a command ended; refused or failed"},
"text":{"type":"string","description":"the result as text"},
"reason":{"type":"string","description":"why it was refused or failed"},
"denials":{"type":"array","items":{"type":"object","properties":{
"what":{"type":"string"},"rule":{"type":"string"},"grant":{"type":"string"}}}},
"redacted":{"type":"boolean","description":"a secret was replaced"},
"isolation":{"type":"string","description":"only where the sandbox is bypassed or disabled"}})json";

constexpr std::string_view kCaptured = R"json({"type":"object","properties":{
"text":{"type":"string"},"total_bytes":{"type":"integer"},"truncated":{"type":"boolean"}}})json";

constexpr std::array kRows{
    ToolInfo{
        "bash", TrustLevel::inner, Effect::changes, in_shell<bash>,
        "Run a shell command in the workspace, inside the sandbox, with bash (with sh where there "
        "is "
        "no bash). Returns its output (the head and the tail of much of it) and exit code. Each "
        "call "
        "is a new shell: files in the workspace survive it, and what is in /tmp survives while "
        "this "
        "server runs. The working directory, variables, functions, background processes and files "
        "elsewhere do not.",
        R"json({"type":"object","properties":{
"command":{"type":"string","description":"what bash -c runs"},
"timeout":{"type":"integer","minimum":1,"maximum":3600,"description":"seconds (default: the policy's, which is also the most, or 120)"},
"directory":{"type":"string","description":"where to start, in the workspace"}},
"required":["command"],"additionalProperties":false})json",
        "exit_code, stdout and stderr (text and size of each), what was denied or quarantined",
        kCommandGives, Reach::command},
    ToolInfo{
        "exec", TrustLevel::inner, Effect::changes, in_shell<exec>,
        "Run a program with arguments, without a shell, inside the sandbox. What survives the call "
        "is as for bash.",
        R"json({"type":"object","properties":{
"program":{"type":"string","description":"a name on the PATH, or a path inside"},
"arguments":{"type":"array","items":{"type":"string"}},
"environment":{"type":"object","additionalProperties":{"type":"string"},"description":"variables to set"},
"timeout":{"type":"integer","minimum":1,"maximum":3600,"description":"seconds (default: the policy's, which is also the most, or 120)"},
"directory":{"type":"string","description":"where to start, in the workspace"}},
"required":["program"],"additionalProperties":false})json",
        "as for bash", kCommandGives, Reach::command},
    ToolInfo{
        "read_file", TrustLevel::familiar, Effect::reads_only, on_files<read_file>,
        "Read a text file, or look at an image (PNG, JPEG, GIF, WebP); of another binary file, its "
        "type, size and bytes. Long files are cut; offset and limit choose lines.",
        R"json({"type":"object","properties":{
"path":{"type":"string","description":"relative to the workspace, or as commands inside name it"},
"offset":{"type":"integer","minimum":1,"maximum":1000000000,"description":"first line"},
"limit":{"type":"integer","minimum":1,"maximum":100000,"description":"how many lines"}},
"required":["path"],"additionalProperties":false})json",
        "path, size, text, truncated, next_offset; for a file that is not text binary, "
        "mime_type and, up to 10 MB, data (base64; in MCP an image, sound or blob, up to 3 MB)",
        R"json({"path":{"type":"string"},"size":{"type":"integer"},
"truncated":{"type":"boolean"},"next_offset":{"type":"integer","description":"the line to go on with"},
"binary":{"type":"boolean"},"mime_type":{"type":"string"}})json"},
    ToolInfo{"write_file", TrustLevel::inner, Effect::changes, on_files<write_file>,
             "Write a whole file, all or nothing. Missing directories are made.",
             R"json({"type":"object","properties":{
"path":{"type":"string"},"content":{"type":"string"}},
"required":["path","content"],"additionalProperties":false})json",
             "path, size, created",
             R"json({"path":{"type":"string"},"size":{"type":"integer"},
"created":{"type":"boolean"}})json"},
    ToolInfo{"edit_file", TrustLevel::inner, Effect::changes, on_files<edit_file>,
             "Replace text in a file. The old text must be there exactly once, unless all is true.",
             R"json({"type":"object","properties":{
"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"},
"all":{"type":"boolean","description":"replace every one"}},
"required":["path","old","new"],"additionalProperties":false})json",
             "path, size, replaced",
             R"json({"path":{"type":"string"},"size":{"type":"integer"},
"replaced":{"type":"integer"}})json"},
    ToolInfo{"list_files", TrustLevel::familiar, Effect::reads_only, on_files<list_files>,
             "List a directory of the workspace.", R"json({"type":"object","properties":{
"path":{"type":"string","description":"default: the workspace"},
"depth":{"type":"integer","minimum":1,"maximum":5,"description":"levels (default 1)"},
"hidden":{"type":"boolean","description":"also names that begin with a dot"}},
"additionalProperties":false})json",
             "path, text, count, truncated",
             R"json({"path":{"type":"string"},"count":{"type":"integer"},
"truncated":{"type":"boolean"},"hidden":{"type":"integer"}})json"},
    ToolInfo{
        "search_files", TrustLevel::familiar, Effect::reads_only, on_files<search_files>,
        "Find lines in files of the workspace. Files that .gitignore or .ignore name are left out.",
        R"json({"type":"object","properties":{
"pattern":{"type":"string","description":"text to find"},
"path":{"type":"string","description":"a file or directory (default: the workspace)"},
"glob":{"type":"string","description":"only files whose name matches, like *.cc"},
"regex":{"type":"boolean","description":"pattern is a regular expression"},
"ignore_case":{"type":"boolean"},
"all":{"type":"boolean","description":"also files that .gitignore, .ignore or .git/info/exclude name"}},
"required":["pattern"],"additionalProperties":false})json",
        "text, matches, files, passed_over, ignored",
        R"json({"matches":{"type":"integer"},"files":{"type":"integer"},
"passed_over":{"type":"integer"},"ignored":{"type":"integer"},"truncated":{"type":"boolean"}})json"},
    ToolInfo{"send_file", TrustLevel::full, Effect::reads_only, on_files<send_file>,
             "Send a file of the workspace to the person in the conversation, at most 25 MB.",
             R"json({"type":"object","properties":{"path":{"type":"string"}},
"required":["path"],"additionalProperties":false})json",
             "name, size, mime_type, data (base64; in MCP an image, sound or blob)",
             R"json({"name":{"type":"string"},"size":{"type":"integer"},
"mime_type":{"type":"string"}})json"},
    ToolInfo{"fetch_url", TrustLevel::full, Effect::reads_only, fetch,
             "Fetch a page of the public internet by http or https.",
             R"json({"type":"object","properties":{
"url":{"type":"string"},
"max_bytes":{"type":"integer","minimum":1,"maximum":1048576,"description":"default 1048576"}},
"required":["url"],"additionalProperties":false})json",
             "text, status, url, content_type, truncated, size",
             R"json({"status":{"type":"integer"},"url":{"type":"string"},
"content_type":{"type":"string"},"truncated":{"type":"boolean"},"size":{"type":"integer"}})json",
             Reach::network},
};

// A tool without a row, a row without a tool, or different trust levels.
static_assert(std::ranges::equal(kRows, policy::kTools,
                                 [](const ToolInfo& row, const policy::ToolAccess& access) {
                                   return row.name == access.tool && row.least == access.least;
                                 }),
              "tools/table.cc and policy::kTools differ");

}  // namespace

std::span<const ToolInfo> tool_table() { return kRows; }

const ToolInfo* find_tool(std::string_view name) {
  const auto found = std::ranges::find(kRows, name, &ToolInfo::name);
  return found == kRows.end() ? nullptr : &*found;
}

Json output_schema(const ToolInfo& tool) {
  Json properties = Json::parse(kAllGive);
  properties.update(Json::parse(tool.output));
  Json schema{{"type", "object"}, {"properties", properties}, {"required", {"outcome"}}};
  if (tool.output == kCommandGives) schema["$defs"]["captured"] = Json::parse(kCaptured);
  return schema;
}

}  // namespace coop::tools
