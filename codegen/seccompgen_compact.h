// Shortens libseccomp's search for a system call number, and proves that it decides the same.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace coop::seccompgen {

// `code` maps (architecture, number) to a return value and uses nothing else. The result is a
// binary search over runs of numbers with the same value: fewer instructions for the kernel to
// verify and compile when the filter is installed, which is most of its cost at a start. An error
// if any decision would differ.
std::expected<std::vector<sock_filter>, std::string> compact(const std::vector<sock_filter>& code,
                                                             std::uint32_t audit_architecture);

}  // namespace coop::seccompgen
