#include "report/exec_json.h"

#include <nlohmann/json.hpp>

#include "base/path.h"
#include "report/text.h"

namespace coop::report {

namespace {

using Json = nlohmann::ordered_json;

// "lossy": invalid UTF-8 was replaced by U+FFFD.
Json to_json(const Captured& captured) {
  return {{"text", captured.text},
          {"total_bytes", captured.total_bytes},
          {"truncated", captured.truncated},
          {"lossy", !is_utf8(captured.text)}};
}

}  // namespace

std::string exec_json(const ExecOutput& output, const std::string& id) {
  Json denials = Json::array();
  for (const Denial& denial : output.denials)
    denials.push_back({{"what", printable(denial.what)},
                       {"rule", rule_text(denial)},
                       {"grant", grant_text(denial)}});
  Json quarantined = Json::array();
  for (const Quarantined& moved : output.quarantined)
    quarantined.push_back({{"path", printable(moved.path)},
                           {"moved_to", printable(moved.moved_to)},
                           {"rule", "guard " + moved.guard},
                           {"problem", moved.problem}});
  Json network = Json::array();
  for (const NetworkEvent& event : output.network)
    network.push_back({{"kind", to_text(event.kind)},
                       {"host", printable(event.host)},
                       {"address", event.address},
                       {"port", event.port},
                       {"verdict", event.allowed ? "allowed" : "denied"},
                       {"rule", to_text(event.rule)},
                       {"grant", plain_text(event.grant)},
                       {"problem", printable(event.problem)},
                       {"sent", event.sent},
                       {"received", event.received}});
  Json unreached = Json::array();
  for (const NetworkEvent& event : unreached_of(output.network))
    unreached.push_back({{"host", printable(event.host)},
                         {"port", event.port},
                         {"problem", printable(event.problem)}});
  const Json json{{"session", id},
                  {"exit_code", output.exit_code},
                  {"outcome", to_text(output.outcome)},
                  {"signal", output.signal},
                  {"stdout", to_json(output.standard_output)},
                  {"stderr", to_json(output.standard_error)},
                  {"usage",
                   {{"wall_us", output.usage.wall.count()},
                    {"user_us", output.usage.user_cpu.count()},
                    {"system_us", output.usage.system_cpu.count()},
                    {"peak_memory", output.usage.peak_memory}}},
                  {"denials", denials},
                  {"quarantined", quarantined},
                  {"quarantined_total", output.quarantined_total},
                  {"network", network},
                  {"unreached", unreached},
                  {"notes", output.notes}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace coop::report
