// Decodes encoded runs of a text, so that the same patterns can scan them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "leaks/runs.h"

namespace coop::leaks {

// One decoding of a run.
struct Decoding {
  std::string bytes{};
  std::size_t skipped = 0;  // digits at the front: the start of a blob is unknown
};

// All that a run may mean. Linear time, whatever the input.
std::vector<Decoding> decodings_of(std::string_view text, Encoding encoding, const Run& run);

// Moves leaks from the decoded bytes to the text they were decoded from; base64 padding belongs to the last bytes.
void move_to_text(std::string_view text, Encoding encoding, const Run& run,
                  const Decoding& decoding, std::vector<Leak>& leaks);

}  // namespace coop::leaks
