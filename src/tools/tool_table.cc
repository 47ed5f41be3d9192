// Every tool: what it is for, and what it takes.
#include <array>

#include "tools/session.h"

namespace coop::tools {

namespace {

using policy::TrustLevel;

constexpr std::array kTools{
    ToolInfo{
        "bash",
        "Run a shell command in the workspace, inside the sandbox. Returns its output (the head "
        "and the tail of much of it) and exit code.",
        R"json({"type":"object","properties":{
"command":{"type":"string","description":"what /bin/sh runs"},
"timeout":{"type":"integer","minimum":1,"maximum":3600,"description":"seconds (default 120)"},
"directory":{"type":"string","description":"where to start, in the workspace"}},
"required":["command"],"additionalProperties":false})json",
        TrustLevel::inner},
    ToolInfo{"exec", "Run a program with arguments, without a shell, inside the sandbox.",
             R"json({"type":"object","properties":{
"program":{"type":"string","description":"a name on the PATH, or a path inside"},
"arguments":{"type":"array","items":{"type":"string"}},
"environment":{"type":"object","additionalProperties":{"type":"string"},"description":"variables to set"},
"timeout":{"type":"integer","minimum":1,"maximum":3600,"description":"seconds (default 120)"},
"directory":{"type":"string","description":"where to start, in the workspace"}},
"required":["program"],"additionalProperties":false})json",
             TrustLevel::inner},
    ToolInfo{"read_file", "Read a text file. Long files are cut; offset and limit choose lines.",
             R"json({"type":"object","properties":{
"path":{"type":"string","description":"relative to the workspace, or as commands inside name it"},
"offset":{"type":"integer","minimum":1,"maximum":1000000000,"description":"first line"},
"limit":{"type":"integer","minimum":1,"maximum":100000,"description":"how many lines"}},
"required":["path"],"additionalProperties":false})json",
             TrustLevel::familiar, true},
    ToolInfo{"write_file", "Write a whole file, all or nothing. Missing directories are made.",
             R"json({"type":"object","properties":{
"path":{"type":"string"},"content":{"type":"string"}},
"required":["path","content"],"additionalProperties":false})json",
             TrustLevel::inner},
    ToolInfo{"edit_file",
             "Replace text in a file. The old text must be there exactly once, unless all is true.",
             R"json({"type":"object","properties":{
"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"},
"all":{"type":"boolean","description":"replace every one"}},
"required":["path","old","new"],"additionalProperties":false})json",
             TrustLevel::inner},
    ToolInfo{"list_files", "List a directory of the workspace.",
             R"json({"type":"object","properties":{
"path":{"type":"string","description":"default: the workspace"},
"depth":{"type":"integer","minimum":1,"maximum":5,"description":"levels (default 1)"},
"hidden":{"type":"boolean","description":"also names that begin with a dot"}},
"additionalProperties":false})json",
             TrustLevel::familiar, true},
    ToolInfo{"search_files", "Find lines in files of the workspace.",
             R"json({"type":"object","properties":{
"pattern":{"type":"string","description":"text to find"},
"path":{"type":"string","description":"a file or directory (default: the workspace)"},
"glob":{"type":"string","description":"only files whose name matches, like *.cc"},
"regex":{"type":"boolean","description":"pattern is a regular expression"},
"ignore_case":{"type":"boolean"}},
"required":["pattern"],"additionalProperties":false})json",
             TrustLevel::familiar, true},
    ToolInfo{"send_file",
             "Send a file of the workspace to the person in the conversation, at most 25 MB.",
             R"json({"type":"object","properties":{"path":{"type":"string"}},
"required":["path"],"additionalProperties":false})json",
             TrustLevel::full, true},
    ToolInfo{"fetch_url", "Fetch a page of the public internet by http or https.",
             R"json({"type":"object","properties":{
"url":{"type":"string"},
"max_bytes":{"type":"integer","minimum":1,"maximum":1048576,"description":"default 1048576"}},
"required":["url"],"additionalProperties":false})json",
             TrustLevel::full, true},
};

}  // namespace

std::span<const ToolInfo> tool_table() { return kTools; }

}  // namespace coop::tools
