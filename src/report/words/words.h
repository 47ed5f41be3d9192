// Origins and rules in the messages of rooms that decide. Words can be joined to a message and nothing else: the compiler
// refuses to compare them or to search in them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "coop/rule.h"

namespace coop::report {

class Words {
 public:
  explicit Words(std::string text) : text_(std::move(text)) {}

  friend std::string operator+(std::string message, const Words& words) {
    return std::move(message) + words.text_;
  }
  friend std::string operator+(const Words& words, std::string_view message) {
    return words.text_ + std::string(message);
  }

 private:
  std::string text_;
};

// As report/text.h says them.
Words in_words(Scope scope);
Words in_words(const Origin& origin);
Words in_words(const Rule& rule);

}  // namespace coop::report
