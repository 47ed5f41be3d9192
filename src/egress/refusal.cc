#include "egress/refusal.h"

#include <algorithm>

#include "base/address.h"
#include "report/words/words.h"

namespace coop::egress {

namespace {

// Names and server answers are untrusted: a line break in one would inject a header.
std::string printable(std::string_view text) {
  std::string clean(text);
  std::ranges::replace_if(clean, [](char c) { return c < ' ' || c > '~'; }, '?');
  return clean;
}

std::string response(std::string_view status, std::string_view header, const std::string& body) {
  return "HTTP/1.1 " + std::string(status) +
         "\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n" + std::string(header) + "\r\n" + body;
}

}  // namespace

std::string http_refusal(const NetworkEvent& event, Reached why) {
  const std::string begin = "coop: connection to " + printable(with_port(event.host, event.port));
  if (why != Reached::refused)
    return response(why == Reached::timed_out ? "504 Gateway Timeout" : "502 Bad Gateway", "",
                    begin + " failed: " + printable(event.problem) + "\n");
  const Rule rule = event.rule.value_or(Rule::of_coop(Part::unlisted));
  const bool denied = event.problem.empty() && rule.origin.part != Part::unlisted;
  const std::string words = printable("" + report::in_words(rule));
  std::string body = begin + " refused: " + (denied ? "denied by " : "") + words;
  if (!event.problem.empty()) body += ": " + printable(event.problem);
  body += "\n";
  if (event.grant)
    body += "hint: " + printable(event.grant->flag + " " + event.grant->value) + "\n";
  return response("403 Forbidden", "X-Coop-Denied: " + words + "\r\n", body);
}

std::string http_bad_request(std::string_view problem) {
  return response("400 Bad Request", "", "coop: bad request: " + printable(problem) + "\n");
}

}  // namespace coop::egress
