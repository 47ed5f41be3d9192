// Decodes encoded stretches of a text, so that the same patterns can scan them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "leaks/leaks.h"

namespace coop::leaks {

// One decoding of one stretch of the text.
struct Stretch {
  std::size_t begin = 0;  // in the text
  std::size_t end = 0;
  std::size_t skipped = 0;  // digits skipped at the front: the start of a blob is unknown
  std::size_t offset = 0;   // of the decoded bytes in the batch
  std::size_t size = 0;
};

// Decoded bytes of many stretches, each followed by a line break, which no pattern matches across.
struct Batch {
  std::string bytes{};
  std::vector<Stretch> stretches{};
};

// Walks over a text once and decodes what looks encoded in one encoding. Linear time, whatever the
// input.
class LeakDecoder {
 public:
  // `encoding` is not plain.
  LeakDecoder(std::string_view text, Encoding encoding) : text_(text), encoding_(encoding) {}
  // Replaces the batch by the next one, of about 100 KB; empty at the end of the text.
  void next(Batch& batch);

 private:
  std::string_view text_;
  Encoding encoding_;
  std::size_t place_ = 0;
  std::vector<unsigned char> values_{};
};

// Maps decoded bytes back to the text. Ask about one stretch, with ascending begins.
class EncodedPlace {
 public:
  EncodedPlace(std::string_view text, Encoding encoding, const Stretch& stretch);
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // Range of the bytes [begin, end) of the stretch; base64 padding belongs to the last ones.
  Range of(std::size_t begin, std::size_t end);

 private:
  struct Cursor {
    std::size_t place = 0;
    std::size_t digits = 0;
  };
  void advance(Cursor& cursor, std::size_t digits) const;

  std::string_view text_;
  Encoding encoding_;
  Stretch stretch_;
  Cursor cursor_;
};

}  // namespace coop::leaks
