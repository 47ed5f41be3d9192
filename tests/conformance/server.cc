// coop-conformance-server PORT TOKEN: the product's MCP server with the tools and resources that the official suite
// (@modelcontextprotocol/conformance) expects of a server under test.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <thread>

#include "mcp/http/http.h"
#include "mcp/server.h"

namespace coop::mcp {
namespace {

constexpr const char* kPixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg"
    "==";
constexpr const char* kSilence = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

Json text_block(const std::string& text) { return {{"type", "text"}, {"text", text}}; }
Json image_block() { return {{"type", "image"}, {"data", kPixel}, {"mimeType", "image/png"}}; }
Json resource_block(const std::string& uri, const std::string& type, const std::string& text) {
  return {{"type", "resource"}, {"resource", {{"uri", uri}, {"mimeType", type}, {"text", text}}}};
}

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

Json log_thrice(const Call& call) {
  for (const char* text :
       {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    call.notify("notifications/message", {{"level", "info"}, {"logger", "test"}, {"data", text}});
    pause();
  }
  return text_block("logged");
}

Json progress_thrice(const Call& call) {
  for (const char* text : {"a", "b", "c"}) {
    if (call.hooks.progress) call.hooks.progress(text);
    pause();
  }
  return text_block("done");
}

// A row for each: the content of its result.
const std::map<std::string, std::function<Json(const Call&)>, std::less<>>& contents() {
  static const std::map<std::string, std::function<Json(const Call&)>, std::less<>> kContents{
      {"test_simple_text",
       [](const Call&) { return Json{text_block("This is a simple text response for testing.")}; }},
      {"test_image_content", [](const Call&) { return Json{image_block()}; }},
      {"test_audio_content",
       [](const Call&) {
         return Json{{{"type", "audio"}, {"data", kSilence}, {"mimeType", "audio/wav"}}};
       }},
      {"test_embedded_resource",
       [](const Call&) {
         return Json{resource_block("test://embedded-resource", "text/plain",
                                    "This is an embedded resource content.")};
       }},
      {"test_multiple_content_types",
       [](const Call&) {
         return Json{text_block("Multiple content types test:"), image_block(),
                     resource_block("test://mixed-content-resource", "application/json",
                                    R"({"test":"data","value":123})")};
       }},
      {"test_tool_with_logging", [](const Call& call) { return Json{log_thrice(call)}; }},
      {"test_logging_tool", [](const Call& call) { return Json{log_thrice(call)}; }},
      {"test_tool_with_progress", [](const Call& call) { return Json{progress_thrice(call)}; }},
      {"test_error_handling",
       [](const Call&) {
         return Json{text_block("This tool intentionally returns an error for testing")};
       }},
      {"json_schema_2020_12_tool", [](const Call&) { return Json{text_block("a schema")}; }},
  };
  return kContents;
}

Json schema_of(const std::string& name) {
  if (name != "json_schema_2020_12_tool") return {{"type", "object"}};
  return Json::parse(
      R"json({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{
"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
"contactMethod":{"type":"string","enum":["phone","email"]},
"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
"then":{"required":["phone"]},"else":{"required":["email"]},
"additionalProperties":false})json");
}

class Fixtures : public Offer {
 public:
  std::string instructions() const override { return "fixtures of the conformance suite"; }
  Json tools(Form) const override {
    Json list = Json::array();
    for (const auto& [name, content] : contents())
      list.push_back(
          {{"name", name}, {"description", "a fixture"}, {"inputSchema", schema_of(name)}});
    return list;
  }
  bool has_tool(std::string_view name) const override { return contents().contains(name); }
  Json call(const Call& call) override {
    Json content = contents().find(call.name)->second(call);
    // One block in braces is the block itself.
    if (!content.is_array()) content = Json::array({content});
    return {{"content", content}, {"isError", call.name == "test_error_handling"}};
  }
  Json resources() override {
    return {{"resources",
             {{{"uri", "test://static-text"}, {"name", "text"}, {"mimeType", "text/plain"}},
              {{"uri", "test://static-binary"}, {"name", "binary"}, {"mimeType", "image/png"}}}}};
  }
  Json templates() override {
    return {{"resourceTemplates",
             Json::array({{{"uriTemplate", "test://template/{id}/data"}, {"name", "template"}}})}};
  }
  Result<Json> read(const std::string& uri) override {
    Json content{{"uri", uri}};
    if (uri == "test://static-text") {
      content["mimeType"] = "text/plain";
      content["text"] = "This is the content of the static text resource.";
    } else if (uri == "test://static-binary") {
      content["mimeType"] = "image/png";
      content["blob"] = kPixel;
    } else if (uri == "test://template/123/data") {
      content["mimeType"] = "application/json";
      content["text"] = R"({"id":"123","templateTest":true,"data":"Data for ID: 123"})";
    } else {
      return invalid("resource", "there is none");
    }
    return Json{{"contents", Json::array({content})}};
  }
};

int run(const char* port, const char* token) {
  const auto fixtures = std::make_shared<Fixtures>();
  Server server([fixtures] { return CurrentOffer{.offer = fixtures}; }, "0");
  HttpOptions options{.token = token};
  std::from_chars(port, port + std::strlen(port), options.port);
  const Result<std::unique_ptr<HttpServer>> listening = HttpServer::listen(server, options);
  if (!listening) {
    std::fprintf(stderr, "%s\n", to_text(listening.error()).c_str());
    return 1;
  }
  std::printf("%s\n", (*listening)->url().c_str());
  std::fflush(stdout);
  (*listening)->serve();
  return 0;
}

}  // namespace
}  // namespace coop::mcp

int main(int argc, char** argv) { return argc == 3 ? coop::mcp::run(argv[1], argv[2]) : 2; }
