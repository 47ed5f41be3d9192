// Turns the lists in policies/ into constant tables at build time, so that a start parses nothing.
// usage: policygen OUTPUT.inc guards.txt secrets.txt caches.txt control_sockets.txt home_guards.txt
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

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

}  // namespace

int main(int count, char** arguments) {
  if (count != 7)
    return std::cerr
               << "usage: policygen OUTPUT GUARDS SECRETS CACHES CONTROL_SOCKETS HOME_GUARDS\n",
           2;
  std::ofstream output(arguments[1]);
  output << "// Made by codegen/policygen from policies/. Do not edit.\n";
  output << "inline constexpr NamedReason kGuards[] = {\n";
  for (const char* file : {arguments[2], arguments[6]})
    for (const Line& line : read(file, 1))
      output << "    {" << quoted(line.words[0]) << ", " << quoted(line.reason) << "},\n";
  output << "};\ninline constexpr NamedReason kSecrets[] = {\n";
  for (const Line& line : read(arguments[3], 1))
    output << "    {" << quoted(line.words[0]) << ", " << quoted(line.reason) << "},\n";
  output << "};\ninline constexpr CacheEntry kCaches[] = {\n";
  for (const Line& line : read(arguments[4], 2)) {
    std::string variable;
    std::string path = line.words[1];
    if (const std::size_t bar = path.find('|'); path.starts_with('$') && bar != std::string::npos) {
      variable = path.substr(1, bar - 1);
      path = path.substr(bar + 1);
    }
    output << "    {" << quoted(line.words[0]) << ", " << quoted(variable) << ", " << quoted(path)
           << ", " << quoted(line.words[2]) << ", " << quoted(line.reason) << "},\n";
  }
  output << "};\ninline constexpr NamedReason kControlSockets[] = {\n";
  for (const Line& line : read(arguments[5], 1))
    output << "    {" << quoted(line.words[0]) << ", " << quoted(line.reason) << "},\n";
  output << "};\n";
  output.flush();
  return output.good() ? 0 : 1;
}
