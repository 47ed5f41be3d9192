// Checks the arguments of a call against the tool's schema.
#pragma once

#include "tools/tool.h"

namespace coop::tools {

// `schema` as tools publish it: an object with properties, required ones, and nothing else allowed. Checks
// the types string, integer (minimum, maximum), boolean, array of strings and object of strings.
Result<void> check_arguments(const Json& arguments, const Json& schema);

}  // namespace coop::tools
