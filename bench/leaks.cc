// How fast the leak scanner is on one core, and what it takes for a secret where there is none.
//
//   leaks_bench [--rounds N] [--megabytes N]     prints Markdown
//
// Of each corpus no more than so many megabytes are taken. Processor time, not the clock's: what else
// the machine does then counts for less. The corpora take turns, for the same reason.
#include <cstdint>
#include <ctime>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>

#include "base/quantity.h"
#include "leaks/leaks.h"
#include "machine.h"
#include "statistics.h"
#include "sys/fd.h"

namespace coop::bench {

namespace {

using leaks::Leak;
using leaks::LeakScanner;
using leaks::LeakStream;

constexpr std::size_t kMegabyte = 1'000'000;

struct Settings {
  std::size_t rounds = 15;
  std::size_t size = 32 * kMegabyte;
};

Result<Settings> parse(int count, char** words) {
  Settings settings;
  for (int index = 1; index < count; index += 2) {
    const std::string_view word = words[index];
    if (index + 1 == count) return invalid("leaks_bench", word, "see the top of bench/leaks.cc");
    const std::uint64_t value = TRY(parse_count(words[index + 1]));
    if (word == "--rounds") settings.rounds = value;
    else if (word == "--megabytes") settings.size = value * kMegabyte;
    else return invalid("leaks_bench", word, "see the top of bench/leaks.cc");
  }
  return settings;
}

struct Corpus {
  std::string name{};
  std::string text{};
  std::size_t once = 0;  // wraps around after this many bytes: small corpora are repeated
};

// The text files below a directory, ordered by name, so that they are always the same.
std::string texts_below(const std::filesystem::path& directory, std::size_t most) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (auto entry = std::filesystem::recursive_directory_iterator(directory, error);
       entry != std::filesystem::recursive_directory_iterator(); entry.increment(error))
    if (entry->is_regular_file(error) && !entry->is_symlink(error)) files.push_back(entry->path());
  std::ranges::sort(files);
  std::string all;
  for (const std::filesystem::path& file : files) {
    const Result<std::string> text = read_file(Path(file.native()));
    if (!text || text->find('\0') != std::string::npos) continue;  // compressed manuals, images
    all += *text;
    all += '\n';
    if (all.size() >= most) break;
  }
  return all;
}

// Deterministic: the same in every run.
class Generator {
 public:
  std::size_t number(std::size_t below) { return random_() % below; }
  std::string of(std::string_view alphabet, std::size_t count) {
    std::string text;
    while (text.size() < count) text += alphabet[number(alphabet.size())];
    return text;
  }
  std::string hex(std::size_t count) { return of("0123456789abcdef", count); }
  std::string base64(std::size_t count) {
    return of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", count);
  }

 private:
  std::mt19937_64 random_{1};
};

std::string log_line(Generator& made) {
  struct Message {
    std::string_view before;
    std::string_view behind;  // of a number
  };
  constexpr std::array kMessages{
      Message{"GET /api/v2/projects/", "/files?path=src%2Fmain.cc&ref=main HTTP/1.1 200"},
      Message{"connection from 10.0.7.17:", " closed: peer reset, 3 requests served"},
      Message{"worker 7: job ", " finished in 812 ms, exit status 0"},
      Message{"cache miss for /var/lib/service/objects/ab/cdef", "/index.json, reading the disk"},
      Message{"warning: field 'timeout_in_milliseconds' of section ", " is deprecated"},
  };
  const Message& message = kMessages[made.number(kMessages.size())];
  std::string line = "2025-11-02T14:07:31." + std::to_string(1000 + made.number(9000));
  line += made.number(2) == 0 ? "Z INFO  [http] request=" : "Z INFO  [scheduler] request=";
  line += made.hex(8) + "-" + made.hex(12) + " ";
  line += message.before;
  line += std::to_string(made.number(100'000));
  line += message.behind;
  return line + "\n";
}

std::string log_text(Generator& made, std::size_t size) {
  std::string text;
  while (text.size() < size) text += log_line(made);
  return text;
}

std::string wrapped(const std::string& digits, std::size_t width) {
  std::string text;
  for (std::size_t place = 0; place < digits.size(); place += width)
    text += digits.substr(place, width) + "\n";
  return text;
}

std::string blob(Generator& made) {
  switch (made.number(5)) {
    case 0: return "<img src=\"data:image/png;base64," + made.base64(3000) + "\">\n";
    case 1:
      return "-----BEGIN CERTIFICATE-----\n" + wrapped(made.base64(1500), 64) +
             "-----END CERTIFICATE-----\n";
    case 2: return "\"integrity\": \"sha512-" + made.base64(86) + "==\",\n";
    case 3: return "commit " + made.hex(40) + "\nsha256:" + made.hex(64) + "\n";
    default: return wrapped(made.hex(1800), 60);
  }
}

// A blob after some lines of text: a fifth to a quarter of the whole is blobs.
std::string with_blobs(Generator& made, std::string_view source, std::size_t size) {
  std::string text;
  for (std::size_t place = 0; text.size() < size;) {
    const std::size_t line = source.find('\n', std::min(place + 4000, source.size()));
    const std::size_t end = std::min(line, source.size() - 1) + 1;
    text += source.substr(place, end - place);
    text += blob(made);
    place = end == source.size() ? 0 : end;
  }
  return text;
}

// 64 KB of each in turn.
std::string all_mixed(const std::vector<Corpus>& corpora, std::size_t size) {
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  std::string text;
  for (std::size_t place = 0; text.size() < size; place += kPiece)
    for (const Corpus& corpus : corpora)
      text += std::string_view(corpus.text).substr(place % corpus.text.size(), kPiece);
  return text;
}

std::vector<Corpus> make_corpora(std::size_t size) {
  Generator made;
  std::vector<Corpus> corpora;
  const auto add = [&](std::string name, std::string text) {
    const std::size_t once = std::min(text.size(), size);
    while (!text.empty() && text.size() < size) text += text.substr(0, size - text.size());
    text.resize(std::min(text.size(), size));
    if (!text.empty()) corpora.push_back({std::move(name), std::move(text), once});
  };
  const std::filesystem::path root = COOP_SOURCE_DIRECTORY;
  add("source code: src/", texts_below(root / "src", size));
  add("headers: /usr/include", texts_below("/usr/include", size));
  add("manuals: /usr/share/doc", texts_below("/usr/share/doc", size));
  add("a log, generated", log_text(made, size));
  add("base64 and hexadecimal blobs in source code",
      with_blobs(made, std::string_view(corpora.front().text).substr(0, corpora.front().once),
                 size));
  add("all mixed", all_mixed(corpora, size));
  return corpora;
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// One line of the table: an operation and a corpus.
struct Task {
  std::string name{};
  std::string_view text{};
  std::size_t (*find)(const LeakScanner& scanner, std::string_view text) = nullptr;
  const LeakScanner* scanner = nullptr;
  std::vector<double> speeds{};  // MB/s
};

std::size_t find_whole(const LeakScanner& scanner, std::string_view text) {
  return scanner.find(text).size();
}

std::size_t find_in_stream(const LeakScanner& scanner, std::string_view text) {
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  LeakStream stream(scanner);
  std::size_t passed = 0;
  for (std::size_t place = 0; place < text.size(); place += kPiece)
    passed += stream.feed(text.substr(place, kPiece)).size();
  return passed + stream.finish().size();
}

void measure(std::vector<Task>& tasks, std::size_t rounds) {
  std::size_t kept = 0;  // keeps the optimiser from removing the work
  for (std::size_t round = 0; round < rounds; ++round)
    for (Task& task : tasks) {
      const double start = processor_seconds();
      kept += task.find(*task.scanner, task.text);
      const double seconds = processor_seconds() - start;
      task.speeds.push_back(static_cast<double>(task.text.size()) / kMegabyte / seconds);
    }
  if (kept == 1) std::puts("");
}

void print_speeds(const std::vector<Task>& tasks) {
  std::printf("| Text | Size | MB/s: median | quartiles |\n|---|---|---|---|\n");
  for (const Task& task : tasks) {
    const Summary speed = summarize(task.speeds);
    std::printf("| %s | %.1f MB | %.0f | %.0f to %.0f |\n", task.name.c_str(),
                static_cast<double>(task.text.size()) / kMegabyte, speed.median,
                speed.lower_quartile, speed.upper_quartile);
  }
}

// These texts contain no secrets, so every match is a false positive, or an example that looks like
// one.
void print_finds(const LeakScanner& scanner, const std::vector<Corpus>& corpora) {
  std::printf("\n| Text | Size | Found |\n|---|---|---|\n");
  for (const Corpus& corpus : corpora) {
    std::map<std::string, std::size_t> counts;
    for (const Leak& leak : scanner.find(std::string_view(corpus.text).substr(0, corpus.once)))
      ++counts[leak.name + " (" + std::string(to_text(leak.encoding)) + ")"];
    std::string names;
    for (const auto& [name, count] : counts)
      names += (names.empty() ? "" : ", ") + name + " " + std::to_string(count);
    std::printf("| %s | %.1f MB | %s |\n", corpus.name.c_str(),
                static_cast<double>(corpus.once) / kMegabyte,
                names.empty() ? "none" : names.c_str());
  }
}

std::vector<LeakScanner::Known> ten_values() {
  Generator made;
  std::vector<LeakScanner::Known> known;
  known.reserve(10);
  for (int index = 0; index < 10; ++index)
    known.push_back({.name = "TOKEN_" + std::to_string(index), .value = made.base64(32)});
  return known;
}

Result<void> run(const Settings& settings) {
  const LeakScanner scanner = TRY(LeakScanner::create());
  const LeakScanner knowing = TRY(LeakScanner::create(ten_values()));
  const std::vector<Corpus> corpora = make_corpora(settings.size);
  std::vector<Task> tasks;
  tasks.reserve(corpora.size() + 2);
  for (const Corpus& corpus : corpora)
    tasks.push_back({corpus.name, corpus.text, find_whole, &scanner});
  const std::string& mixed = corpora.back().text;
  tasks.push_back({"all mixed, with ten known values", mixed, find_whole, &knowing});
  tasks.push_back({"all mixed, a stream in pieces of 64 KB", mixed, find_in_stream, &scanner});
  const double load = load_average();
  measure(tasks, settings.rounds);
  std::printf("One core, processor time, %zu rounds; load average %.1f before, %.1f after.\n\n",
              settings.rounds, load, load_average());
  print_speeds(tasks);
  print_finds(scanner, corpora);
  return {};
}

}  // namespace

}  // namespace coop::bench

int main(int count, char** words) {
  using namespace coop;
  const Result<bench::Settings> settings = bench::parse(count, words);
  const Result<void> done = settings ? bench::run(*settings) : std::unexpected(settings.error());
  if (done) return 0;
  std::fprintf(stderr, "leaks_bench: %s\n", to_text(done.error()).c_str());
  return 1;
}
