#include "tools/arguments.h"

#include <vector>

#include "base/nearest.h"
#include "base/path.h"
#include "base/text.h"

namespace coop::tools {

namespace {

std::string in_quotes(std::string_view text) { return "\"" + printable(text) + "\""; }

bool all_strings(const Json& values) {
  for (const Json& value : values)
    if (!value.is_string()) return false;
  return true;
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array() && all_strings(value);
  if (type == "object") return value.is_object() && all_strings(value);
  return false;
}

std::string expected(const std::string& type) {
  if (type == "array") return "a list of strings";
  if (type == "object") return "an object with strings as values";
  return (type == "integer" ? "an " : "a ") + type;
}

Result<void> check_range(const std::string& name, const Json& value, const Json& property) {
  if (!value.is_number_integer()) return {};
  const bool unsigned_huge =
      value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX};
  const auto number = unsigned_huge ? INT64_MAX : value.get<std::int64_t>();
  const auto lowest = property.value("minimum", std::int64_t{INT64_MIN});
  const auto highest = property.value("maximum", std::int64_t{INT64_MAX});
  if (!unsigned_huge && number >= lowest && number <= highest) return {};
  return invalid("argument " + name,
                 "must be " + std::to_string(lowest) + " to " + std::to_string(highest));
}

}  // namespace

Result<void> check_arguments(const Json& arguments, const Json& schema) {
  if (!arguments.is_object()) return invalid("arguments", "an object is expected");
  const Json& properties = schema.at("properties");
  std::vector<std::string_view> known;
  for (const auto& [name, property] : properties.items()) known.push_back(name);
  for (const auto& [name, value] : arguments.items()) {
    const auto property = properties.find(name);
    if (property == properties.end()) {
      const std::string_view near = nearest(name, known);
      // A model that guessed a name corrects itself in the next call if it sees them all.
      return invalid("arguments",
                     "unknown argument " + in_quotes(name) +
                         (known.empty() ? "; there are none" : "; valid: " + joined(known, ", ")),
                     near.empty() ? "" : "did you mean " + in_quotes(near) + "?");
    }
    const std::string type = property->value("type", "");
    if (!has_type(value, type))
      return invalid("argument " + in_quotes(name), "must be " + expected(type));
    TRY(check_range(in_quotes(name), value, *property));
  }
  if (const auto required = schema.find("required"); required != schema.end())
    for (const Json& name : *required)
      if (!arguments.contains(name.get<std::string>()))
        return invalid("arguments", in_quotes(name.get<std::string>()) + " is missing");
  return {};
}

}  // namespace coop::tools
