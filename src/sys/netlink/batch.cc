#include "sys/netlink/batch.h"

#include <arpa/inet.h>
#include <linux/netlink.h>

#include <cstring>

namespace coop::netlink {

void NetlinkBatch::pad() { bytes_.resize((bytes_.size() + 3U) / 4U * 4U); }

void NetlinkBatch::set_length(std::size_t at, std::size_t length, std::size_t width) {
  const auto four = static_cast<std::uint32_t>(length);
  const auto two = static_cast<std::uint16_t>(length);
  std::memcpy(bytes_.data() + at, width == 4 ? static_cast<const void*>(&four) : &two, width);
}

void NetlinkBatch::begin(std::uint16_t type, std::uint16_t flags, std::string_view header) {
  message_ = bytes_.size();
  const nlmsghdr common{.nlmsg_len = 0,
                        .nlmsg_type = type,
                        .nlmsg_flags = static_cast<std::uint16_t>(flags | NLM_F_REQUEST),
                        .nlmsg_seq = ++sequence_,
                        .nlmsg_pid = 0};
  bytes_ += bytes_of(common);
  raw(header);
}

// The kernel sends all acknowledgements before we read; many would overflow the receive buffer.
void NetlinkBatch::end() {
  set_length(message_, bytes_.size() - message_, 4);
  if (acknowledged_) flip_acknowledgement(*acknowledged_);
  flip_acknowledgement(message_);
  acknowledged_ = message_;
}

void NetlinkBatch::flip_acknowledgement(std::size_t message) {
  nlmsghdr header{};
  std::memcpy(&header, bytes_.data() + message, sizeof header);
  header.nlmsg_flags ^= NLM_F_ACK;
  std::memcpy(bytes_.data() + message, &header, sizeof header);
}

void NetlinkBatch::frame(std::uint16_t type, std::string_view header) {
  begin(type, 0, header);
  set_length(message_, bytes_.size() - message_, 4);
}

void NetlinkBatch::attribute(std::uint16_t type, std::string_view bytes) {
  const nlattr header{static_cast<std::uint16_t>(sizeof(nlattr) + bytes.size()), type};
  bytes_ += bytes_of(header);
  raw(bytes);
}

void NetlinkBatch::raw(std::string_view bytes) {
  bytes_ += bytes;
  pad();
}

void NetlinkBatch::text(std::uint16_t type, std::string_view text) {
  attribute(type, std::string(text) + '\0');
}

void NetlinkBatch::number(std::uint16_t type, std::uint32_t value) {
  attribute(type, bytes_of(value));
}

void NetlinkBatch::big_endian(std::uint16_t type, std::uint32_t value) {
  const std::uint32_t swapped = htonl(value);
  attribute(type, bytes_of(swapped));
}

void NetlinkBatch::open(std::uint16_t type) {
  nested_.push_back(bytes_.size());
  const nlattr header{0, static_cast<std::uint16_t>(type | NLA_F_NESTED)};
  bytes_ += bytes_of(header);
}

void NetlinkBatch::close() {
  set_length(nested_.back(), bytes_.size() - nested_.back(), 2);
  nested_.pop_back();
}

}  // namespace coop::netlink
