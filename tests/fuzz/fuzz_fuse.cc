// Messages of /dev/fuse: any bytes after a header are answered, and no name leads out of the served directory.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "guards/served/git_files.h"
#include "sys/fuse/session.h"

namespace {

// Never destroyed: the handler at the exit uses it.
const std::string& directory() {
  static const std::string* const path = [] {
    auto* const name = new std::string("/tmp/fuzz_fuse.XXXXXX");
    if (::mkdtemp(name->data()) == nullptr) std::abort();
    const std::string g = *name + "/g";
    static_cast<void>(!::system(("mkdir -p " + g + "/modules/a " + g + "/info; echo x > " + g +
                                 "/config; echo x > " + g + "/HEAD")
                                    .c_str()));
    std::atexit([] { static_cast<void>(!::system(("rm -rf " + directory()).c_str())); });
    return name;
  }();
  return *path;
}

}  // namespace

// The input: pairs of an opcode, a node and a length, then that many bytes of the body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coop;
  const std::vector<std::string> names{".git", ".git/config", ".git/hooks", ".git/info/attributes"};
  guards::Refusals refusals;
  guards::TouchedFiles touched;
  auto files = guards::GitFiles::open(directory() + "/g", guards::GuardNames(names), {}, {},
                                      refusals, touched);
  if (!files) std::abort();
  fuse::Session session(**files);
  std::vector<std::byte> message;
  while (size >= 3) {
    const std::size_t length = std::min<std::size_t>(data[2], size - 3);
    fuse_in_header header{};
    header.len = static_cast<std::uint32_t>(sizeof header + length);
    header.opcode = data[0];
    header.nodeid = data[1];
    header.unique = 1;
    message.resize(header.len);
    std::memcpy(message.data(), &header, sizeof header);
    std::memcpy(message.data() + sizeof header, data + 3, length);
    const auto reply = session.answer(message);
    if (!reply.empty() && reply.size() < sizeof(fuse_out_header)) std::abort();
    data += 3 + length;
    size -= 3 + length;
  }
  if (::access((directory() + "/g/config").c_str(), F_OK) != 0) std::abort();
  return 0;
}
