#include "setup/record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/path.h"
#include "base/text.h"

namespace coop::setup {

namespace {

Json json_of(const Done& done) {
  return {{"kind", done.change.kind == ChangeKind::set ? "set" : "add"},
          {"path", done.change.path},
          {"value", done.change.value},
          {"replaced", done.replaced},
          {"made", done.made},
          {"removed", done.removed},
          {"inserted", done.inserted},
          {"value_at", done.value_at}};
}

Done done_of(const Json& json) {
  return {.change = {.kind = json.at("kind") == "set" ? ChangeKind::set : ChangeKind::add,
                     .path = json.at("path").get<std::vector<std::string>>(),
                     .value = json.at("value")},
          .replaced = json.at("replaced").get<bool>(),
          .made = json.at("made").get<std::size_t>(),
          .removed = json.at("removed").get<std::string>(),
          .inserted = json.at("inserted").get<std::string>(),
          .value_at = json.at("value_at").get<std::size_t>()};
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Whether setup makes such a change in that file.
bool is_named(const Client& client, Way way, std::string_view file, const Done& done) {
  return std::ranges::any_of(client.changes, [&](const ClientChange& change) {
    return change.way == way && change.file == file && change.change.kind == done.change.kind &&
           change.change.path == done.change.path;
  });
}

std::unexpected<Error> not_of_setup(const Client& client, const std::string& what) {
  return invalid("the record of coop setup",
                 "names " + what + ", which is not a setting of " + client.title + " here",
                 client.files.front().moved_by.empty()
                     ? "take its entries out by hand, and remove the record"
                     : "set " + client.files.front().moved_by + " as it was at setup");
}

Result<void> check_file(const FileRecord& file, Way way, const Client& client,
                        const std::vector<PlacedFile>& places) {
  const auto place = std::ranges::find_if(
      places, [&](const PlacedFile& one) { return contains(one.paths, file.path); });
  if (place == places.end() || place->format != file.format)
    return not_of_setup(client, in_quotes(file.path));
  for (const Done& done : file.done)
    if (!is_named(client, way, place->name, done))
      return not_of_setup(client, in_quotes(path_text(done.change.path)));
  if (file.blank && !is_blank(*file.blank))
    return not_of_setup(client, "a text of " + in_quotes(file.path));
  for (const Path& directory : file.directories)
    if (directory == file.path || !is_within(file.path, directory))
      return not_of_setup(client, in_quotes(directory));
  return {};
}

}  // namespace

Result<void> check_record(const Record& record, const Client& client,
                          const std::vector<PlacedFile>& places) {
  for (const FileRecord& file : record.files) TRY(check_file(file, record.way, client, places));
  return {};
}

std::string to_json_text(const Record& record) {
  Json files = Json::array();
  for (const FileRecord& file : record.files) {
    Json done = Json::array();
    for (const Done& one : file.done) done.push_back(json_of(one));
    files.push_back({{"path", file.path},
                     {"format", file.format == Format::json ? "json" : "toml"},
                     {"created", file.created},
                     {"blank", file.blank ? Json(*file.blank) : Json()},
                     {"directories", file.directories},
                     {"done", std::move(done)}});
  }
  const Json json{{"way", to_text(record.way)}, {"files", std::move(files)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The library throws for a name that is missing or of another type; it is caught here, in the one place that reads a record.
Result<Record> parse_record(std::string_view text) try {
  const Json json = Json::parse(text);
  Record record{.way = json.at("way") == "shell" ? Way::shell : Way::tools};
  for (const Json& file : json.at("files")) {
    FileRecord one{.path = file.at("path").get<std::string>(),
                   .format = file.at("format") == "toml" ? Format::toml : Format::json,
                   .created = file.at("created").get<bool>()};
    if (!file.at("blank").is_null()) one.blank = file.at("blank").get<std::string>();
    if (file.contains("directories"))
      one.directories = file.at("directories").get<std::vector<Path>>();
    for (const Json& done : file.at("done")) one.done.push_back(done_of(done));
    record.files.push_back(std::move(one));
  }
  return record;
} catch (const Json::exception&) {
  return invalid("", "not a record of coop setup");
}

Record joined_records(Record earlier, const Record& later) {
  for (const FileRecord& file : later.files) {
    const auto known = std::ranges::find(earlier.files, file.path, &FileRecord::path);
    if (known == earlier.files.end()) earlier.files.push_back(file);
    else known->done.insert(known->done.end(), file.done.begin(), file.done.end());
  }
  return earlier;
}

}  // namespace coop::setup
