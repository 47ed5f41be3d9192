#include "sys/fuse/session.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace coop::fuse {

namespace {

constexpr int kNoAnswer = -1;
constexpr std::uint32_t kMostBytes = 128U << 10;  // of one read or write
constexpr std::uint32_t kMostPages = kMostBytes / 4096;

std::size_t padded(std::size_t size) { return (size + 7) & ~std::size_t{7}; }

}  // namespace

bool EntrySink::add(std::string_view name, std::uint64_t inode, std::uint32_t type,
                    std::uint64_t next) {
  const fuse_dirent entry{
      .ino = inode, .off = next, .namelen = static_cast<std::uint32_t>(name.size()), .type = type};
  const std::size_t size = padded(FUSE_NAME_OFFSET + name.size());
  if (used_ + size > limit_) return false;
  used_ += size;
  const std::size_t start = buffer_.size();
  buffer_.resize(start + size);
  std::memcpy(buffer_.data() + start, &entry, FUSE_NAME_OFFSET);
  std::memcpy(buffer_.data() + start + FUSE_NAME_OFFSET, name.data(), name.size());
  return true;
}

// The part of a message after its header. Every take fails at the end, so that a short message is answered with EINVAL.
class Session::Body {
 public:
  explicit Body(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename Value>
  std::optional<Value> take() {
    Value value;
    if (rest_.size() < sizeof value) return std::nullopt;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }

  std::optional<std::string_view> take_text() {
    const auto end = std::ranges::find(rest_, std::byte{0});
    if (end == rest_.end()) return std::nullopt;
    const std::string_view text(reinterpret_cast<const char*>(rest_.data()),
                                static_cast<std::size_t>(end - rest_.begin()));
    rest_ = rest_.subspan(text.size() + 1);
    return text;
  }

  // The kernel resolves "." and ".." itself and never sends a path. Refused nevertheless: the name is used in system
  // calls of this process.
  std::optional<std::string_view> take_name() {
    const std::optional<std::string_view> name = take_text();
    if (!name || name->empty() || *name == "." || *name == ".." || name->contains('/'))
      return std::nullopt;
    return name;
  }

  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

template <typename Value>
void Session::put(const Value& value) {
  const std::size_t start = reply_.size();
  reply_.resize(start + sizeof value);
  std::memcpy(reply_.data() + start, &value, sizeof value);
}

// Validity 0: the host changes the same files, so that the kernel has to ask each time. A stale entry would make git
// read an index that was replaced, and write it back.
int Session::put_found(const Answer<Found>& found) {
  if (!found) return found.error();
  fuse_entry_out out{};
  out.nodeid = found->node;
  out.attr = found->attributes;
  put(out);
  return 0;
}

int Session::put_attributes(const Answer<fuse_attr>& attributes) {
  if (!attributes) return attributes.error();
  fuse_attr_out out{};
  out.attr = *attributes;
  put(out);
  return 0;
}

int Session::initialize(Body& body) {
  struct Version {
    std::uint32_t major, minor, max_readahead, flags;
  };
  const auto wanted = body.take<Version>();
  if (!wanted) return EINVAL;
  if (wanted->major != FUSE_KERNEL_VERSION || wanted->minor < 23) return EPROTO;
  constexpr std::uint32_t kFlags = FUSE_ASYNC_READ | FUSE_ATOMIC_O_TRUNC | FUSE_BIG_WRITES |
                                   FUSE_AUTO_INVAL_DATA | FUSE_PARALLEL_DIROPS | FUSE_MAX_PAGES;
  fuse_init_out out{};
  out.major = FUSE_KERNEL_VERSION;
  out.minor = std::min<std::uint32_t>(wanted->minor, FUSE_KERNEL_MINOR_VERSION);
  out.max_readahead = std::min(wanted->max_readahead, kMostBytes);
  out.flags = wanted->flags & kFlags;
  out.max_background = 12;
  out.congestion_threshold = 9;
  out.max_write = kMostBytes;
  out.time_gran = 1;
  out.max_pages = kMostPages;
  put(out);
  return 0;
}

int Session::forget(const fuse_in_header& header, Body& body) {
  if (header.opcode == FUSE_FORGET) {
    if (const auto one = body.take<fuse_forget_in>()) files_.forget(header.nodeid, one->nlookup);
    return kNoAnswer;
  }
  const auto batch = body.take<fuse_batch_forget_in>();
  for (std::uint32_t index = 0; batch && index < batch->count; ++index) {
    const auto one = body.take<fuse_forget_one>();
    if (!one) break;
    files_.forget(one->nodeid, one->nlookup);
  }
  return kNoAnswer;
}

int Session::rename(const fuse_in_header& header, Body& body) {
  fuse_rename2_in wanted{};
  if (header.opcode == FUSE_RENAME2) {
    const auto in = body.take<fuse_rename2_in>();
    if (!in) return EINVAL;
    wanted = *in;
  } else {
    const auto in = body.take<fuse_rename_in>();
    if (!in) return EINVAL;
    wanted.newdir = in->newdir;
  }
  const auto from = body.take_name();
  const auto to = body.take_name();
  if (!from || !to) return EINVAL;
  const Answer<void> done =
      files_.rename({header.nodeid, *from}, {wanted.newdir, *to}, wanted.flags);
  return done ? 0 : done.error();
}

// Requests that name an entry of the directory header.nodeid.
int Session::names(const fuse_in_header& header, Body& body) {
  std::uint32_t mode = 0;
  std::uint32_t flags = 0;
  Node source = 0;
  if (header.opcode == FUSE_MKNOD) {
    const auto in = body.take<fuse_mknod_in>();
    if (!in) return EINVAL;
    mode = in->mode;
  } else if (header.opcode == FUSE_MKDIR) {
    const auto in = body.take<fuse_mkdir_in>();
    if (!in) return EINVAL;
    mode = in->mode;
  } else if (header.opcode == FUSE_CREATE) {
    const auto in = body.take<fuse_create_in>();
    if (!in) return EINVAL;
    mode = in->mode;
    flags = in->flags;
  } else if (header.opcode == FUSE_LINK) {
    const auto in = body.take<fuse_link_in>();
    if (!in) return EINVAL;
    source = in->oldnodeid;
  }
  const auto name = body.take_name();
  if (!name) return EINVAL;
  const NewName at{header.nodeid, *name};
  if (header.opcode == FUSE_LOOKUP) return put_found(files_.look_up(at));
  if (header.opcode == FUSE_MKNOD) return put_found(files_.make_node(at, mode));
  if (header.opcode == FUSE_MKDIR) return put_found(files_.make_directory(at, mode));
  if (header.opcode == FUSE_LINK) return put_found(files_.link(source, at));
  if (header.opcode == FUSE_SYMLINK) {
    const auto text = body.take_text();
    return text ? put_found(files_.make_symlink(at, std::string(*text))) : EINVAL;
  }
  if (header.opcode == FUSE_CREATE) {
    const auto created = files_.create(at, flags, mode);
    if (!created) return created.error();
    put_found(created->first);
    put(fuse_open_out{.fh = created->second.handle, .open_flags = created->second.flags});
    return 0;
  }
  const Answer<void> removed = files_.remove(at, header.opcode == FUSE_RMDIR ? AT_REMOVEDIR : 0);
  return removed ? 0 : removed.error();
}

// Requests about open files and directories.
int Session::contents(const fuse_in_header& header, Body& body) {
  if (header.opcode == FUSE_OPEN || header.opcode == FUSE_OPENDIR) {
    const auto in = body.take<fuse_open_in>();
    if (!in) return EINVAL;
    const Answer<Opened> opened = header.opcode == FUSE_OPEN ? files_.open(header.nodeid, in->flags)
                                                             : files_.open_directory(header.nodeid);
    if (!opened) return opened.error();
    put(fuse_open_out{.fh = opened->handle, .open_flags = opened->flags});
    return 0;
  }
  if (header.opcode == FUSE_READ || header.opcode == FUSE_READDIR) {
    const auto in = body.take<fuse_read_in>();
    if (!in) return EINVAL;
    const std::size_t size = std::min(in->size, kMostBytes);
    const std::size_t start = reply_.size();
    if (header.opcode == FUSE_READDIR) {
      EntrySink sink(reply_, size);
      const Answer<void> read = files_.read_directory(in->fh, in->offset, sink);
      return read ? 0 : read.error();
    }
    reply_.resize(start + size);
    const Answer<std::size_t> read =
        files_.read(in->fh, in->offset, std::span(reply_).subspan(start));
    reply_.resize(start + read.value_or(0));
    return read ? 0 : read.error();
  }
  if (header.opcode == FUSE_WRITE) {
    const auto in = body.take<fuse_write_in>();
    if (!in || body.rest().size() < in->size) return EINVAL;
    const Answer<std::size_t> written =
        files_.write(in->fh, in->offset, body.rest().first(in->size));
    if (!written) return written.error();
    put(fuse_write_out{.size = static_cast<std::uint32_t>(*written)});
    return 0;
  }
  if (header.opcode == FUSE_RELEASE || header.opcode == FUSE_RELEASEDIR) {
    const auto in = body.take<fuse_release_in>();
    if (in) files_.release(in->fh);
    return in ? 0 : EINVAL;
  }
  const auto in = body.take<fuse_fsync_in>();
  if (!in) return EINVAL;
  const Answer<void> synced = files_.sync(in->fh);
  return synced ? 0 : synced.error();
}

int Session::dispatch(const fuse_in_header& header, Body body) {
  switch (header.opcode) {
    case FUSE_INIT: return initialize(body);
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET: return forget(header, body);
    case FUSE_GETATTR: return put_attributes(files_.attributes(header.nodeid));
    case FUSE_SETATTR: {
      const auto in = body.take<fuse_setattr_in>();
      return in ? put_attributes(files_.set_attributes(header.nodeid, *in)) : EINVAL;
    }
    case FUSE_READLINK: {
      const Answer<std::string> text = files_.read_link(header.nodeid);
      if (!text) return text.error();
      const auto* bytes = reinterpret_cast<const std::byte*>(text->data());
      reply_.insert(reply_.end(), bytes, bytes + text->size());
      return 0;
    }
    case FUSE_STATFS: {
      const Answer<fuse_kstatfs> found = files_.statistics(header.nodeid);
      if (!found) return found.error();
      put(fuse_statfs_out{.st = *found});
      return 0;
    }
    case FUSE_RENAME:
    case FUSE_RENAME2: return rename(header, body);
    case FUSE_LOOKUP:
    case FUSE_SYMLINK:
    case FUSE_MKNOD:
    case FUSE_MKDIR:
    case FUSE_UNLINK:
    case FUSE_RMDIR:
    case FUSE_LINK:
    case FUSE_CREATE: return names(header, body);
    case FUSE_OPEN:
    case FUSE_OPENDIR:
    case FUSE_READ:
    case FUSE_READDIR:
    case FUSE_WRITE:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_FSYNC:
    case FUSE_FSYNCDIR: return contents(header, body);
    case FUSE_DESTROY: return 0;
    // The kernel then does without, and does not ask again: FLUSH, ACCESS, extended attributes, locks, INTERRUPT.
    default: return ENOSYS;
  }
}

std::span<const std::byte> Session::answer(std::span<const std::byte> message) {
  fuse_in_header header;
  if (message.size() < sizeof header) return {};
  std::memcpy(&header, message.data(), sizeof header);
  fuse_out_header out{.unique = header.unique};
  reply_.clear();
  put(out);
  const int error = dispatch(header, Body(message.subspan(sizeof header)));
  if (error == kNoAnswer) return {};
  if (error != 0) reply_.resize(sizeof out);
  out.error = -error;
  out.len = static_cast<std::uint32_t>(reply_.size());
  std::memcpy(reply_.data(), &out, sizeof out);
  return reply_;
}

bool serve(int device, Session& session, std::span<std::byte> buffer) {
  for (;;) {
    const ssize_t size = ::read(device, buffer.data(), buffer.size());
    // ENOENT: the request was interrupted before it was read.
    if (size < 0 && (errno == EINTR || errno == ENOENT)) continue;
    if (size < 0) return errno == EAGAIN;
    const std::span<const std::byte> reply =
        session.answer(buffer.first(static_cast<std::size_t>(size)));
    // Here ENOENT means that the caller was killed and the kernel expects no answer any more.
    if (!reply.empty() && ::write(device, reply.data(), reply.size()) < 0 && errno == ENODEV)
      return false;
  }
}

}  // namespace coop::fuse
