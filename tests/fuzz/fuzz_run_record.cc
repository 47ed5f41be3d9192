// Any bytes as the record of a run: read without a fault, and what is read gives the same bytes back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "guards/records/told.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace guards = coop::guards;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto told = guards::parse_told(bytes);
  const auto roots = guards::parse_roots(bytes);
  if (!told) return 0;
  if (!told->roots.empty() && roots != told->roots) std::abort();
  if (guards::parse_told(guards::to_bytes(*told)) != told) std::abort();
  guards::Identities identities;
  const guards::OtherRun run(*told, identities);
  for (const guards::ToldPath& known : told->known) {
    const auto& [device, inode, born] = known.identity;
    const coop::GuardedPath found{.path = known.path,
                                  .guard = known.guard,
                                  .device = device,
                                  .inode = inode,
                                  .born = born,
                                  .changed = told->started - 1,
                                  .link = known.link};
    // The first of several with the same path is found.
    if (told->known.size() == 1 && told->started != INT64_MIN &&
        run.may_have_made(found, known.path))
      std::abort();
  }
  return 0;
}
