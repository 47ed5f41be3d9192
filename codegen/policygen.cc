// Turns the lists in policies/ into constant tables at build time, so that a start parses nothing.
// usage: policygen OUTPUT.inc guards.txt secrets.txt caches.txt control_sockets.txt home.txt workspace_secrets.txt
//        home_guards.txt etc.txt hosts.txt
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
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

// As src/guards/names.cc compares names: in lower case, without dots and blanks at the end.
std::string folded(std::string part) {
  while (part.size() > 1 && (part.back() == '.' || part.back() == ' ')) part.pop_back();
  for (char& letter : part)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return part;
}

constexpr std::string_view kInGit = ".git/";

// Where a guard is looked for: its components below the git directory.
std::vector<std::string> parts_of(const std::string& name) {
  std::istringstream text(name.substr(name.starts_with(kInGit) ? kInGit.size() : 0));
  std::vector<std::string> parts;
  for (std::string part; std::getline(text, part, '/');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

class PartsTable {
 public:
  // The list as an initialiser.
  std::string span(const std::vector<std::string>& parts) {
    if (parts.empty()) return "{}";
    auto [known, is_new] = places_.emplace(parts, parts_.size());
    if (is_new) parts_.insert(parts_.end(), parts.begin(), parts.end());
    return "{kGuardParts + " + std::to_string(known->second) + ", " + std::to_string(parts.size()) +
           "}";
  }
  void write(std::ostream& output) const {
    output << "inline constexpr std::string_view kGuardParts[] = {\n";
    for (const std::string& part : parts_) output << "    " << quote(part) << ",\n";
    output << "};\n";
  }

 private:
  std::map<std::vector<std::string>, std::size_t> places_;
  std::vector<std::string> parts_;
};

// The names of entries that can matter for a guard, or for recognising a git directory, by their first letter.
void write_interesting(std::ostream& output, std::set<std::string> names) {
  for (const char* const part_of_git : {".git", "head", "objects", "refs", "commondir", "modules",
                                        "worktrees", "config", "config.worktree", "sharedindex.*"})
    names.insert(part_of_git);
  constexpr unsigned kLetters = 128;
  std::uint64_t digest = 14695981039346656037U;  // FNV-1a
  std::vector<std::size_t> begins(kLetters + 1, names.size());
  std::size_t place = 0;
  output << "inline constexpr std::string_view kInteresting[] = {\n";
  for (const std::string& name : names) {
    output << "    " << quote(name) << ",\n";
    for (const char letter : name + '\n')
      digest = (digest ^ static_cast<unsigned char>(letter)) * 1099511628211U;
    for (auto letter = static_cast<unsigned char>(name.front()) + 1U; letter-- > 0;)
      begins[letter] = std::min(begins[letter], place);
    ++place;
  }
  output << "};\ninline constexpr std::uint16_t kInterestingBegins[] = {";
  for (const std::size_t begin : begins) output << begin << ",";
  output << "};\ninline constexpr std::string_view kInterestingDigest = \"" << std::hex << digest
         << std::dec << "\";\n";
}

void write_guards(std::ostream& output, const char* file, const char* home_file) {
  std::vector<Line> guards = read(file, 1);
  for (Line& line : read(home_file, 1)) guards.push_back(std::move(line));
  std::ranges::sort(guards, {}, [](const Line& line) { return line.words[0]; });
  PartsTable table;
  std::set<std::string> interesting;
  std::ostringstream entries;
  for (const Line& line : guards) {
    const std::string kind = guard_kind(file, line);
    const bool in_home = kind.starts_with("GuardKind::home");
    const std::vector<std::string> parts =
        in_home ? std::vector<std::string>() : parts_of(line.words[0]);
    std::vector<std::string> compared = parts;
    for (std::string& part : compared) part = folded(part);
    if (!in_home && line.words[0] != ".git") interesting.insert(compared.front());
    entries << "    {{" << quote(line.words[0]) << ", " << quote(line.reason) << "}, " << kind
            << ", " << table.span(parts) << ", " << table.span(compared) << "},\n";
  }
  table.write(output);
  output << "inline constexpr GuardEntry kGuards[] = {\n" << entries.str() << "};\n";
  write_interesting(output, std::move(interesting));
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

// The hosts of a group follow each other; no name is given to two groups.
void write_hosts(std::ostream& output, const char* file) {
  std::set<std::string> groups;
  std::set<std::string> hosts;
  std::string last;
  output << "inline constexpr HostEntry kHosts[] = {\n";
  for (const Line& line : read(file, 2)) {
    const std::string& group = line.words[0];
    if (group != last && !groups.insert(group).second)
      fail(file, 0, "the hosts of \"" + group + "\" do not follow each other");
    if (group.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
      fail(file, 0, "\"" + group + "\" is not the name of a group");
    if (!hosts.insert(group + " " + line.words[1]).second)
      fail(file, 0, group + " lists " + line.words[1] + " twice");
    last = group;
    output << "    {" << quote(group) << ", " << quote(line.words[1]) << ", " << quote(line.reason)
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
  if (count != 11) return std::cerr << "usage: policygen OUTPUT LISTS…\n", 2;
  std::ofstream output(arguments[1]);
  output << "// Made by codegen/policygen from policies/. Do not edit.\n";
  write_guards(output, arguments[2], arguments[8]);
  write_secrets(output, arguments[3]);
  write_caches(output, arguments[4]);
  write_named(output, "kControlSockets", read(arguments[5], 1));
  write_named(output, "kHome", read(arguments[6], 1));
  write_patterns(output, arguments[7]);
  write_named(output, "kEtc", read(arguments[9], 1));
  write_hosts(output, arguments[10]);
  output.flush();
  return output.good() ? 0 : 1;
}
