// DNS, TLS, SOCKS and HTTP input from clients inside, and answers of name and web servers: any bytes are
// parsed, and the results are valid.
#include <cstdlib>
#include <string_view>

#include "egress/dns/message.h"
#include "egress/proxy/request.h"
#include "egress/proxy/response.h"
#include "egress/proxy/socks5.h"
#include "egress/tls/client_hello.h"
#include "policy/destinations/host_name.h"

namespace {

using namespace coop::egress;  // NOLINT(google-build-using-namespace)

void check_name(const std::string& name) {
  if (coop::policy::host_name(name) != name) std::abort();
}

// What passes to the host's name servers is one question of class IN, with or without an OPT record, and no zone transfer.
void check_plain_query(std::string_view bytes) {
  if (!is_plain_query(bytes)) return;
  const auto word = [&](std::size_t at) {
    if (at + 2 > bytes.size()) std::abort();
    return static_cast<unsigned char>(bytes[at]) * 256U + static_cast<unsigned char>(bytes[at + 1]);
  };
  if ((word(2) & 0xf800U) != 0 || word(4) != 1 || word(6) != 0 || word(8) != 0 || word(10) > 1)
    std::abort();
  std::size_t at = 12;
  for (; bytes.at(at) != '\0'; at += 1U + static_cast<unsigned char>(bytes[at]))
    if ((static_cast<unsigned char>(bytes[at]) & 0xc0U) != 0) std::abort();
  if (at + 1 - 12 > 255) std::abort();
  const unsigned type = word(at + 1);
  if (type == 251 || type == 252 || type == 253 || type == 254 || word(at + 3) != 1) std::abort();
  at += 5;
  if (word(10) == 1) {
    if (bytes.at(at) != '\0' || word(at + 1) != 41) std::abort();
    at += 11 + word(at + 9);
  }
  if (at != bytes.size()) std::abort();
}

// Parsed as the answer to the question it carries, so that the records after it are reached too.
void check_reply(std::string_view bytes) {
  if (bytes.size() < 12) return;
  DnsAsked asked{.name = "a.example", .type = kDnsA};
  for (const std::uint16_t type : {kDnsA, kDnsAaaa}) {
    asked.type = type;
    std::string message = dns_query(asked);
    message[2] = '\x81';
    message[7] = static_cast<char>(bytes[0] & 0x1f);
    const DnsReply reply = read_dns_reply(message + std::string(bytes.substr(1)), asked);
    if (reply.kind == DnsReply::Kind::other) std::abort();
    for (const std::string& address : reply.addresses)
      if (address.size() != (type == kDnsA ? 4U : 16U)) std::abort();
    if (!reply.addresses.empty() && reply.kind != DnsReply::Kind::found) std::abort();
    asked.id = 0;
    static_cast<void>(read_dns_reply(bytes, asked));
  }
}

// In any two pieces the head of an answer comes out as in one, and nothing of the body is lost.
void check_response(std::string_view bytes) {
  std::string whole(bytes);
  std::string out;
  const HeadState state = pass_response_head(whole, out);
  std::string pieces(bytes.substr(0, bytes.size() / 2));
  std::string piecewise;
  const HeadState half = pass_response_head(pieces, piecewise);
  pieces += bytes.substr(bytes.size() / 2);
  if (half == HeadState::incomplete && pass_response_head(pieces, piecewise) != state) std::abort();
  if (bytes.size() < 65536 && (piecewise != out || pieces != whole)) std::abort();
  if (!bytes.ends_with(whole)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto question = parse_question(bytes)) {
    check_name(question->name);
    const auto again = parse_question(bytes.substr(0, 12 + question->asked.size()));
    // Without the additional records its count is wrong; the name is the same.
    if (again && again->name != question->name) std::abort();
    if (dns_answer(*question, DnsCode::refused).size() != 12 + question->asked.size()) std::abort();
  }
  static_cast<void>(dns_failure(bytes, DnsCode::format_error));
  check_plain_query(bytes);
  check_reply(bytes);
  check_response(bytes);
  for (const ClientHello& hello : {read_client_hello(bytes), read_second_hello(bytes)}) {
    const bool whole =
        hello.kind == ClientHello::Kind::named || hello.kind == ClientHello::Kind::no_name;
    if (hello.kind == ClientHello::Kind::named) check_name(hello.name);
    if (whole && (hello.size == 0 || hello.size > size)) std::abort();
  }
  static_cast<void>(asks_for_second_hello(bytes));
  static_cast<void>(read_socks_greeting(bytes));
  const SocksRequest socks = read_socks_request(bytes);
  if (socks.state == Arrived::whole && (socks.size > size || socks.target.port == 0)) std::abort();
  if (socks.state == Arrived::whole && socks.target.kind == HostKind::name)
    check_name(socks.target.host);
  const ProxyRequest request = read_proxy_request(bytes);
  const bool good =
      request.kind == ProxyRequest::Kind::connect || request.kind == ProxyRequest::Kind::forward;
  if (good && (request.size > size || request.target.port == 0 || request.target.host.empty()))
    std::abort();
  if (good && request.target.kind == HostKind::name) check_name(request.target.host);
  if (request.kind == ProxyRequest::Kind::forward) {
    // The forwarded head is a single head with nothing after it.
    if (request.head.find("\r\n\r\n") + 4 != request.head.size()) std::abort();
  }
  return 0;
}
