// Compiles policies/leaks.txt for vectorscan at build time, so that a start compiles nothing.
// usage: leakgen OUTPUT.inc leaks.txt
#include <hs/hs.h>

#include <bitset>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Pattern {
  std::string name{};
  std::string expression{};
  std::string reason{};
  bool begins_word = false;
  std::string rule = "anything";  // lookahead: LeakPattern::Follows
  std::bitset<256> set{};         // the characters of the rule
  int line = 0;
};

[[noreturn]] void fail(const std::string& file, int number, const std::string& what) {
  std::cerr << file << ":" << number << ": " << what << "\n";
  std::exit(1);
}

// Removes a column from the front: everything before two blanks.
std::string take_column(std::string_view& text) {
  const std::size_t end = std::min(text.find("  "), text.size());
  std::string column(text.substr(0, end));
  text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
  return column;
}

std::bitset<256> read_class(std::string_view text) {
  std::bitset<256> set;
  for (std::size_t index = 0; index < text.size(); ++index) {
    if (text.substr(index).starts_with("\\w")) {
      for (unsigned c = 0; c < 256; ++c)
        if (c == '_' || (c < 128 && std::isalnum(static_cast<int>(c)) != 0)) set.set(c);
      ++index;
    } else if (index + 2 < text.size() && text[index + 1] == '-') {
      for (auto c = static_cast<unsigned char>(text[index]); c <= text[index + 2]; ++c) set.set(c);
      index += 2;
    } else {
      set.set(static_cast<unsigned char>(text[index]));
    }
  }
  return set;
}

// vectorscan has no lookahead: cut it off the pattern's end; the scanner checks it.
void split_end(Pattern& pattern) {
  constexpr std::string_view kBlock = "[\\s\\S]*?(-----END|\\z)";
  std::string& text = pattern.expression;
  if (text.ends_with(kBlock)) {
    text.resize(text.size() - kBlock.size());
    pattern.rule = "block";
    return;
  }
  const std::size_t refused = text.rfind("(?![");
  const std::size_t required = text.rfind("(?=[");
  const std::size_t begin = refused != std::string::npos ? refused : required;
  if (begin == std::string::npos || !text.ends_with("])")) return;
  pattern.set = read_class(std::string_view(text).substr(begin + 4, text.size() - begin - 6));
  pattern.rule = begin == refused ? "none_of" : "one_of";
  text.resize(begin);
}

std::vector<Pattern> read(const std::string& file) {
  std::ifstream input(file);
  if (!input) fail(file, 0, "cannot be read");
  std::vector<Pattern> patterns;
  std::string text;
  for (int number = 1; std::getline(input, text); ++number) {
    if (text.empty() || text.starts_with('#')) continue;
    for (char& c : text)
      if (c == '\t') c = ' ';
    std::string_view rest = text;
    Pattern pattern;
    pattern.name = take_column(rest);
    pattern.expression = take_column(rest);
    pattern.reason = rest;
    pattern.line = number;
    if (pattern.expression.empty()) fail(file, number, "NAME, PATTERN and REASON are expected");
    if (pattern.reason.empty()) fail(file, number, "a rule carries its reason: none is given");
    if (pattern.expression.starts_with("\\b")) {
      pattern.expression.erase(0, 2);
      pattern.begins_word = true;
    }
    split_end(pattern);
    patterns.push_back(std::move(pattern));
  }
  if (patterns.empty()) fail(file, 0, "has no pattern");
  return patterns;
}

// Compile for the baseline of every processor vectorscan supports, not for this one.
std::vector<char> compile(const std::string& file, const std::vector<Pattern>& patterns) {
  std::vector<const char*> expressions;
  std::vector<unsigned> flags(patterns.size(), HS_FLAG_SOM_LEFTMOST);
  std::vector<unsigned> ids;
  for (const Pattern& pattern : patterns) {
    ids.push_back(static_cast<unsigned>(ids.size()));
    expressions.push_back(pattern.expression.c_str());
  }
  const hs_platform_info_t platform{.tune = HS_TUNE_FAMILY_GENERIC, .cpu_features = 0};
  hs_database_t* database = nullptr;
  hs_compile_error_t* error = nullptr;
  if (hs_compile_multi(expressions.data(), flags.data(), ids.data(),
                       static_cast<unsigned>(patterns.size()), HS_MODE_BLOCK, &platform, &database,
                       &error) != HS_SUCCESS) {
    const int line =
        error->expression < 0 ? 0 : patterns[static_cast<std::size_t>(error->expression)].line;
    fail(file, line, error->message);
  }
  char* bytes = nullptr;
  std::size_t size = 0;
  if (hs_serialize_database(database, &bytes, &size) != HS_SUCCESS)
    fail(file, 0, "the compiled patterns cannot be stored");
  std::vector<char> copy(bytes, bytes + size);
  std::free(bytes);
  hs_free_database(database);
  return copy;
}

std::string quote(const std::string& text) {
  std::string result = "\"";
  for (const char c : text)
    result += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
  return result + '"';
}

void write_table(std::ostream& output, const std::vector<Pattern>& patterns) {
  output << "constexpr LeakPattern kPatterns[] = {\n";
  for (const Pattern& pattern : patterns) {
    output << "    {" << quote(pattern.name) << ", " << quote(pattern.reason) << ", "
           << (pattern.begins_word ? "true" : "false") << ", LeakPattern::Follows::" << pattern.rule
           << ", {";
    for (std::size_t word = 0; word < 4; ++word) {
      std::uint64_t bits = 0;
      for (std::size_t bit = 0; bit < 64; ++bit)
        bits |= std::uint64_t{pattern.set[word * 64 + bit]} << bit;
      output << (word == 0 ? "" : ", ") << bits << "U";
    }
    output << "}},\n";
  }
  output << "};\n";
}

void write_database(std::ostream& output, std::vector<char> bytes) {
  output << "constexpr std::size_t kDatabaseSize = " << bytes.size() << ";\n";
  bytes.resize((bytes.size() + 7) / 8 * 8);
  output << "constexpr std::uint64_t kDatabase[] = {" << std::hex;
  for (std::size_t index = 0; index < bytes.size(); index += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, &bytes[index], sizeof word);
    output << (index % 64 == 0 ? "\n    " : " ") << "0x" << word << ",";
  }
  output << "\n};\n" << std::dec;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return std::cerr << "usage: leakgen OUTPUT LEAKS\n", 2;
  const std::vector<Pattern> patterns = read(arguments[2]);
  std::ofstream output(arguments[1]);
  output << "// Made by codegen/leakgen from policies/leaks.txt. Do not edit.\n";
  write_table(output, patterns);
  write_database(output, compile(arguments[2], patterns));
  output.flush();
  return output.good() ? 0 : 1;
}
