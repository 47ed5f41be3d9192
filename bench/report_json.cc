#include <nlohmann/json.hpp>

#include "report.h"

namespace coop::bench {

namespace {

using nlohmann::json;

json rows_as_json(const std::vector<Row>& rows) {
  json list = json::array();
  for (const Row& row : rows) {
    json one = {{"name", row.name}, {"how", row.how}, {"isolation", row.isolation}};
    if (!row.unavailable.empty()) one["unavailable"] = row.unavailable;
    if (row.summary.count > 0)
      one.update({{"count", row.summary.count},
                  {"lower_quartile", row.summary.lower_quartile},
                  {"median", row.summary.median},
                  {"upper_quartile", row.summary.upper_quartile}});
    list.push_back(std::move(one));
  }
  return list;
}

json alive_as_json(const std::vector<AliveRow>& rows) {
  json list = json::array();
  for (const AliveRow& row : rows)
    list.push_back({{"name", row.name},
                    {"wanted", row.wanted},
                    {"alive", row.alive},
                    {"trouble", row.trouble},
                    {"seconds_until_up", row.seconds},
                    {"helper_processes_each", row.helper_processes},
                    {"helpers_readable", row.helpers_readable},
                    {"helper_private_kib_each", row.helper_private},
                    {"helper_anonymous_kib_each", row.helper_anonymous},
                    {"holder_resident_kib_each", row.holder_resident},
                    {"machine_kib_each", row.machine}});
  return list;
}

json network_as_json(const NetworkResults& network) {
  const RestingRow& resting = network.resting;
  return {{"trouble", network.trouble},
          {"stream_bytes_per_second", rows_as_json(network.stream)},
          {"requests_per_second_new_connection", rows_as_json(network.fresh)},
          {"requests_per_second_kept_connection", rows_as_json(network.kept)},
          {"set_up_microseconds", rows_as_json(network.set_up)},
          {"start_microseconds", rows_as_json(network.starts)},
          {"resting",
           {{"connections", resting.wanted},
            {"trouble", resting.trouble},
            {"seconds_until_open", resting.seconds},
            {"coop_resident_kib", resting.resident_kib},
            {"coop_private_kib", resting.private_kib}}}};
}

json repositories_as_json(const std::vector<RepositoryRows>& all) {
  json list = json::array();
  for (const RepositoryRows& one : all)
    list.push_back({{"files", one.files},
                    {"directories", one.directories},
                    {"trouble", one.trouble},
                    {"microseconds", rows_as_json(one.rows)}});
  return list;
}

json targets_as_json(const Results& results) {
  json list = json::array();
  for (const Target& target : judge(results))
    list.push_back({{"wanted", target.wanted},
                    {"measured", target.measured},
                    {"reached", target.reached ? json(*target.reached) : json(nullptr)}});
  return list;
}

json machine_as_json(const Machine& machine) {
  return {{"kernel", machine.kernel},
          {"processor", machine.processor},
          {"cores", machine.cores},
          {"memory", machine.memory},
          {"user", machine.user},
          {"versions", machine.versions},
          {"load_before", machine.load_before},
          {"load_after", machine.load_after}};
}

}  // namespace

std::string to_json(const Results& results) {
  const json all = {{"machine", machine_as_json(results.machine)},
                    {"seed", results.seed},
                    {"rounds", results.rounds},
                    {"threads", results.threads},
                    {"targets", targets_as_json(results)},
                    {"latency_microseconds", rows_as_json(results.latency)},
                    {"runs_per_second", rows_as_json(results.rates)},
                    {"network", network_as_json(results.network)},
                    {"alive", alive_as_json(results.alive)},
                    {"tool_call_microseconds", rows_as_json(results.tools)},
                    {"repositories", repositories_as_json(results.repositories)},
                    {"compile_microseconds", rows_as_json(results.compile)},
                    {"compile_trouble", results.compile_trouble}};
  // Replace invalid UTF-8 in messages rather than lose the figures.
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace coop::bench
