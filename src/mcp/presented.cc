#include "mcp/presented.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "mcp/resources.h"
#include "tools/mime_type.h"
#include "tools/shown.h"

namespace coop::mcp {

namespace {

// Copilot shows its model both parts. Claude Code and Codex show structuredContent alone, as JSON: source code with every
// line end and quote escaped, which is longer and easily copied wrongly into an edit.
constexpr std::array<std::string_view, 3> kTextOnly{"copilot", "claude-code", "codex"};

constexpr std::size_t kMostItems = 20;  // of a list in an answer that is too long

Json text_block(const std::string& text) { return {{"type", "text"}, {"text", text}}; }

// The bytes of a file as the protocol carries them.
Json data_block(std::string data, const std::string& type, const std::string& uri) {
  if (tools::is_seen_as_image(type))
    return {{"type", "image"}, {"data", std::move(data)}, {"mimeType", type}};
  if (type.starts_with("audio/"))
    return {{"type", "audio"}, {"data", std::move(data)}, {"mimeType", type}};
  return {{"type", "resource"},
          {"resource", {{"uri", uri}, {"mimeType", type}, {"blob", std::move(data)}}}};
}

// Models refuse larger images, and a client that pastes a blob into its model's context would flood it. send_file is for the
// person, and a client that asks for all of a result is a program.
bool is_passed_on(const Json& structured, Length length) {
  constexpr std::uint64_t kMostForModel = std::uint64_t{3} << 20;
  return length == Length::whole || !structured.value("binary", false) ||
         structured.value("size", std::uint64_t{0}) <= kMostForModel;
}

std::size_t size_of(const Json& value) {
  return tools::characters_of(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// The strings that may be long, by pointers that stay valid: a new member moves the others.
std::vector<Json::json_pointer> long_texts(const Json& structured) {
  std::vector<Json::json_pointer> texts;
  for (const char* path : {"/stdout/text", "/stderr/text", "/text"})
    if (const Json::json_pointer text(path); structured.contains(text)) texts.push_back(text);
  return texts;
}

void shorten_lists(Json& structured) {
  for (const char* list : {"denials", "quarantined", "notes"}) {
    const auto found = structured.find(list);
    if (found == structured.end() || found->size() <= kMostItems) continue;
    found->erase(found->begin() + kMostItems, found->end());
    structured["truncated"] = true;
  }
}

// Short texts stay whole; the longest get what is left.
void shorten(Json& structured) {
  if (size_of(structured) <= tools::kMostShown) return;
  const std::vector<Json::json_pointer> places = long_texts(structured);
  std::vector<std::string> texts;
  for (const auto& place : places)
    texts.push_back(std::exchange(structured[place], "").get<std::string>());
  if (size_of(structured) > tools::kMostShown / 4) shorten_lists(structured);
  // For the members that are added.
  constexpr std::size_t kRoomForMarks = 100;
  std::size_t room =
      tools::kMostShown - std::min(tools::kMostShown, size_of(structured) + kRoomForMarks);
  std::vector<std::size_t> order(texts.size());
  for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
  std::ranges::sort(order, {}, [&](std::size_t index) { return texts[index].size(); });
  for (std::size_t done = 0; done < order.size(); ++done) {
    const std::size_t share = room / (order.size() - done);
    const std::string& text = texts[order[done]];
    std::string kept = tools::clipped(text, share, tools::json_characters_of);
    room -= std::min(room, tools::json_characters_of(kept));
    const Json::json_pointer& place = places[order[done]];
    if (kept != text) structured[place.parent_pointer()]["truncated"] = true;
    structured[place] = std::move(kept);
  }
}

}  // namespace

Form form_of(std::string_view client_name) {
  const std::string name = lower(client_name);
  const bool known = std::ranges::any_of(
      kTextOnly, [&](std::string_view client) { return name.contains(client); });
  return known ? Form::text_only : Form::both;
}

Json call_result(tools::ToolOutput output, Form form, Length length, std::string_view directory) {
  Json& structured = output.structured;
  Json content = Json::array();
  if (const auto data = structured.find("data"); data != structured.end()) {
    const std::string type = structured.value("mime_type", "");
    const std::string name = structured.value("path", structured.value("name", ""));
    const std::string uri = file_uri(join(directory, name));
    if (is_passed_on(structured, length))
      content.push_back(data_block(data->get<std::string>(), type, uri));
    else
      output.text += "; its bytes are left out, being over 3 MB: resources/read of " + uri +
                     " gives up to 10 MB";
    structured.erase("data");
  }
  const bool whole = length == Length::whole;
  content.insert(content.begin(), text_block(whole ? output.text
                                                   : tools::clipped(output.text, tools::kMostShown,
                                                                    tools::characters_of)));
  Json result{{"content", std::move(content)}};
  if (form == Form::both) {
    // The streams of a command are its text.
    if (!structured.contains("stdout")) structured["text"] = std::move(output.text);
    if (!whole) shorten(structured);
    result["structuredContent"] = std::move(structured);
  }
  result["isError"] = output.failed;
  return result;
}

}  // namespace coop::mcp
