// What `coop policy explain` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coop/grant.h"
#include "coop/path.h"

namespace coop::report {

// Of a path or a destination.
enum class Verdict : std::uint8_t { denied, readable, scratch, writable, reachable };

enum class About : std::uint8_t { path, destination };

struct Explained {
  About about = About::path;
  std::string subject{};
  Verdict verdict = Verdict::denied;
  std::string rule{};
  std::string reason{};
  std::optional<Grant> grant{};  // what would allow more
  std::string advice{};          // behind the grant: " for localhost"
  Path inside{};  // where a path is inside; empty for what is denied and for destinations
};

// One line, and one JSON object.
std::string explained_text(const Explained& answer);
std::string explained_json(const Explained& answer);

}  // namespace coop::report
