#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "payload/payload.h"

namespace payload {

int escaped(std::string_view detail) {
  std::printf("ESCAPED %.*s\n", static_cast<int>(detail.size()), detail.data());
  return 0;
}

int blocked(int error) {
  const char* name = ::strerrorname_np(error);
  std::printf("BLOCKED %d %s\n", error, name != nullptr ? name : "?");
  return 1;
}

int cannot_try(std::string_view why) {
  std::fprintf(stderr, "payload: %.*s: %s\n", static_cast<int>(why.size()), why.data(),
               std::strerror(errno));
  return 2;
}

int judge(long result) { return result < 0 ? blocked(errno) : escaped(); }

long number(const char* text) {
  // Through the unsigned reader too: a request number may use all 64 bits.
  return text[0] == '-' ? std::strtol(text, nullptr, 0)
                        : static_cast<long>(std::strtoul(text, nullptr, 0));
}

}  // namespace payload

int main(int count, char** values) {
  using namespace payload;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (count < 2) return cannot_try("usage: payload ATTACK [ARGUMENT...]");
  const Arguments arguments(values + 2, static_cast<std::size_t>(count - 2));
  for (const auto group :
       {file_attacks(), naming_attacks(), process_attacks(), memory_attacks(), kernel_attacks(),
        socket_attacks(), resource_attacks(), shared_attacks()})
    for (const Attack& attack : group)
      if (attack.name == values[1])
        return arguments.size() < attack.arguments ? cannot_try("too few arguments")
                                                   : attack.run(arguments);
  return cannot_try("no such attack");
}
