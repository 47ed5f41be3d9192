// One change of a settings file, and what takes it back. Files are changed as text: comments, order and indentation of what
// is not changed stay as they are.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"

namespace coop::setup {

enum class ChangeKind : std::uint8_t {
  set,  // the value at `path`
  add,  // an item to the list at `path`, unless it has one like it
};

struct Change {
  ChangeKind kind = ChangeKind::set;
  std::vector<std::string> path{};
  Json value{};
  bool operator==(const Change&) const = default;
};

// What an edit did to the text: `removed` became `inserted`, in which the value begins at `value_at`.
struct Done {
  Change change{};
  bool replaced = false;  // there was a value before: `removed` is that value
  std::size_t made = 0;   // how many objects or lists around the value were made for it
  std::string removed{};
  std::string inserted{};
  std::size_t value_at = 0;
  bool operator==(const Done&) const = default;
};

struct Edited {
  std::string text{};
  std::vector<Done> done{};  // empty: the file said so already
  bool operator==(const Edited&) const = default;
};

enum class Undoing : std::uint8_t {
  taken_back,
  gone,     // it is not there any more
  changed,  // it is not what the edit wrote: left as it is
};

struct Undone {
  std::string text{};
  Undoing outcome = Undoing::gone;
  bool operator==(const Undone&) const = default;
};

}  // namespace coop::setup
