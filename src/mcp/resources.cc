#include "mcp/resources.h"

#include <sstream>

#include "base/path.h"

namespace coop::mcp {

namespace {

constexpr std::string_view kScheme = "file://";

// Bytes that a URI cannot have as they are.
std::string encoded(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        std::isalnum(byte) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos;
    if (plain) text += c;
    else text += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> decoded(std::string_view text) {
  std::string path;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      path += text[at];
      continue;
    }
    const int high = at + 2 < text.size() ? digit(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? digit(text[at + 2]) : -1;
    if (high < 0 || low < 0) return invalid("resource", "\"" + printable(text) + "\" is not a URI");
    path += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return path;
}

}  // namespace

std::string file_uri(std::string_view path) { return std::string(kScheme) + encoded(path); }

Json list_resources(tools::Toolbox& toolbox) {
  Json resources = Json::array();
  if (!policy::may_use(toolbox.trust(), "list_files")) return {{"resources", resources}};
  const tools::ToolOutput listed = toolbox.call("list_files", Json::object());
  std::istringstream lines(listed.failed ? "" : listed.text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.ends_with('/') || line.starts_with('[')) continue;
    resources.push_back({{"uri", file_uri(join(toolbox.workspace(), line))}, {"name", line}});
  }
  return {{"resources", resources}};
}

Json resource_templates(const tools::Toolbox& toolbox) {
  Json templates = Json::array();
  if (policy::may_use(toolbox.trust(), "read_file"))
    templates.push_back({{"uriTemplate", file_uri(toolbox.workspace()) + "/{+path}"},
                         {"name", "workspace"},
                         {"description", "A file of the workspace, by its path in it."}});
  return {{"resourceTemplates", templates}};
}

Result<Json> read_resource(tools::Toolbox& toolbox, const std::string& uri) {
  if (!uri.starts_with(kScheme))
    return invalid("resource", "\"" + printable(uri) + "\" is not a file URI");
  const std::string path = TRY(decoded(std::string_view(uri).substr(kScheme.size())));
  const tools::ToolOutput read = toolbox.call("read_file", {{"path", path}});
  if (read.failed) return invalid("resource", read.text);
  Json content{{"uri", uri}, {"mimeType", read.structured.value("mime_type", "text/plain")}};
  if (!read.structured.value("binary", false)) {
    content["text"] = read.text;
  } else if (const auto data = read.structured.find("data"); data != read.structured.end()) {
    content["blob"] = *data;
  } else {
    return invalid("resource", read.text + " and too large to be read whole");
  }
  return Json{{"contents", Json::array({std::move(content)})}};
}

}  // namespace coop::mcp
