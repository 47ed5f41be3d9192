// The type of a file's content.
#pragma once

#include <string_view>

namespace coop::tools {

// By its first bytes for images that models can see, otherwise by its name: a client passes an image on by its type, and
// a wrong one fails the whole request to the model.
std::string_view mime_type_of(std::string_view name, std::string_view bytes);

// PNG, JPEG, GIF and WebP: what models take.
bool is_seen_as_image(std::string_view type);

}  // namespace coop::tools
