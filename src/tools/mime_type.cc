#include "tools/mime_type.h"

#include <algorithm>
#include <array>

namespace coop::tools {

namespace {

struct MimeType {
  std::string_view ending;
  std::string_view type;
};

constexpr std::array kByName{
    MimeType{".txt", "text/plain"},        MimeType{".md", "text/markdown"},
    MimeType{".csv", "text/csv"},          MimeType{".html", "text/html"},
    MimeType{".json", "application/json"}, MimeType{".pdf", "application/pdf"},
    MimeType{".svg", "image/svg+xml"},     MimeType{".zip", "application/zip"},
    MimeType{".mp3", "audio/mpeg"},        MimeType{".ogg", "audio/ogg"},
    MimeType{".wav", "audio/wav"},         MimeType{".mp4", "video/mp4"},
    MimeType{".gz", "application/gzip"},
};

constexpr std::array<std::string_view, 4> kImages{"image/png", "image/jpeg", "image/gif",
                                                  "image/webp"};

std::string_view image_type_of(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return "image/gif";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "image/webp";
  return {};
}

}  // namespace

std::string_view mime_type_of(std::string_view name, std::string_view bytes) {
  if (const std::string_view image = image_type_of(bytes); !image.empty()) return image;
  for (const MimeType& known : kByName)
    if (name.ends_with(known.ending)) return known.type;
  return "application/octet-stream";
}

bool is_seen_as_image(std::string_view type) {
  return std::ranges::find(kImages, type) != kImages.end();
}

}  // namespace coop::tools
