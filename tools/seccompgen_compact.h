// Makes libseccomp's search for a number shorter, and proves that it decides the same.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace coop::seccompgen {

// `code` maps (architecture, number) to a return value and looks at nothing else. The result does
// so by a binary search over runs of numbers with the same value: less for the kernel to check,
// compile and try out when the filter is installed, which is most of what a filter costs a start.
// An error when any decision would differ.
std::expected<std::vector<sock_filter>, std::string> compact(const std::vector<sock_filter>& code,
                                                             std::uint32_t audit_architecture);

}  // namespace coop::seccompgen
