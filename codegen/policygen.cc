// Turns the lists in policies/ into constant tables at build time, so that a start parses nothing.
// usage: policygen OUTPUT.inc guards.txt secrets.txt caches.txt control_sockets.txt home.txt workspace_secrets.txt home_guards.txt etc.txt
#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Line {
  std::vector<std::string> words;
  std::string reason;
};

[[noreturn]] void fail(const std::string& file, int number, const std::string& what) {
  std::cerr << file << ":" << number << ": " << what << "\n";
  std::exit(1);
}

// Each line: `columns` words, then the reason. A word that starts with ":" is an extra column.
std::vector<Line> read(const std::string& file, std::size_t columns) {
  std::ifstream input(file);
  if (!input) fail(file, 0, "cannot be read");
  std::vector<Line> lines;
  std::string text;
  for (int number = 1; std::getline(input, text); ++number) {
    if (text.empty() || text.starts_with('#')) continue;
    std::istringstream parts(text);
    Line line;
    for (std::size_t column = 0; column < columns; ++column) {
      std::string word;
      if (!(parts >> word)) fail(file, number, "too few columns");
      for (std::size_t at = 0; (at = word.find("\\040")) != std::string::npos;)
        word.replace(at, 4, " ");
      line.words.push_back(word);
    }
    std::getline(parts >> std::ws, line.reason);
    if (line.reason.starts_with(':')) {
      const std::size_t end = line.reason.find_first_of(" \t");
      line.words.push_back(line.reason.substr(1, end - 1));
      line.reason.erase(0,
                        end == std::string::npos ? end : line.reason.find_first_not_of(" \t", end));
    } else {
      line.words.emplace_back();
    }
    if (line.reason.empty()) fail(file, number, "a rule carries its reason: none is given");
    lines.push_back(line);
  }
  return lines;
}

std::string quote(const std::string& text) {
  std::string written = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') written += '\\';
    written += letter;
  }
  return written + "\"";
}

std::string guard_kind(const std::string& file, const Line& line) {
  const std::string& word = line.words[1];
  if (line.words[0].starts_with("~/")) return "GuardKind::home_path";
  if (word.empty()) return "GuardKind::beside_git";
  for (const char* const known : {"anywhere", "file", "home", "contents"})
    if (word == known) return "GuardKind::" + word;
  std::cerr << file << ": " << line.words[0] << ": \":" << word << "\" is unknown\n";
  std::exit(1);
}

void write_named(std::ostream& output, const char* name, const std::vector<Line>& lines) {
  output << "inline constexpr NamedReason " << name << "[] = {\n";
  for (const Line& line : lines)
    output << "    {" << quote(line.words[0]) << ", " << quote(line.reason) << "},\n";
  output << "};\n";
}

std::string secret_kind(const std::string& file, const Line& line) {
  if (line.words[1].empty()) return "SecretKind::always";
  if (line.words[1] == "credentials") return "SecretKind::with_credentials";
  std::cerr << file << ": " << line.words[0] << ": \":" << line.words[1] << "\" is unknown\n";
  std::exit(1);
}

void write_secrets(std::ostream& output, const char* file) {
  output << "inline constexpr SecretEntry kSecrets[] = {\n";
  for (const Line& line : read(file, 1))
    output << "    {{" << quote(line.words[0]) << ", " << quote(line.reason) << "}, "
           << secret_kind(file, line) << "},\n";
  output << "};\n";
}

void write_guards(std::ostream& output, const char* file, const char* home_file) {
  output << "inline constexpr GuardEntry kGuards[] = {\n";
  std::vector<Line> guards = read(file, 1);
  for (Line& line : read(home_file, 1)) guards.push_back(std::move(line));
  std::ranges::sort(guards, {}, [](const Line& line) { return line.words[0]; });
  for (const Line& line : guards)
    output << "    {{" << quote(line.words[0]) << ", " << quote(line.reason) << "}, "
           << guard_kind(file, line) << "},\n";
  output << "};\n";
}

void write_caches(std::ostream& output, const char* file) {
  output << "inline constexpr CacheEntry kCaches[] = {\n";
  for (const Line& line : read(file, 3)) {
    const std::string& use = line.words[1];
    if (use != "copy" && use != "checked" && use != "fresh")
      fail(file, 0, "\"" + use + "\" is not copy, checked or fresh");
    std::string variable;
    std::string path = line.words[2];
    if (const std::size_t bar = path.find('|'); path.starts_with('$') && bar != std::string::npos) {
      variable = path.substr(1, bar - 1);
      path = path.substr(bar + 1);
    }
    output << "    {" << quote(line.words[0]) << ", CacheUse::" << use << ", " << quote(variable)
           << ", " << quote(path) << ", " << quote(line.words[3]) << ", " << quote(line.reason)
           << "},\n";
  }
  output << "};\n";
}

void write_patterns(std::ostream& output, const char* file) {
  output << "inline constexpr SecretPattern kWorkspaceSecrets[] = {\n";
  for (const Line& line : read(file, 1))
    output << "    {" << quote(line.words[0]) << ", " << quote(line.words[1]) << ", "
           << quote(line.reason) << "},\n";
  output << "};\n";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 10) return std::cerr << "usage: policygen OUTPUT LISTS…\n", 2;
  std::ofstream output(arguments[1]);
  output << "// Made by codegen/policygen from policies/. Do not edit.\n";
  write_guards(output, arguments[2], arguments[8]);
  write_secrets(output, arguments[3]);
  write_caches(output, arguments[4]);
  write_named(output, "kControlSockets", read(arguments[5], 1));
  write_named(output, "kHome", read(arguments[6], 1));
  write_patterns(output, arguments[7]);
  write_named(output, "kEtc", read(arguments[9], 1));
  output.flush();
  return output.good() ? 0 : 1;
}
