#include <nlohmann/json.hpp>

#include "base/path.h"
#include "plan/landlock/rights.h"
#include "plan/show/steps.h"
#include "policy/policy.h"
#include "report/plan.h"
#include "report/text.h"

namespace coop::report {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const MountFlags& flags) {
  return Json{
      {"access", coop::to_text(flags.access)}, {"exec", flags.exec}, {"devices", flags.devices}};
}

Json with_existing(Json action, Existing existing) {
  if (existing == Existing::keep) action["existing"] = "keep";
  return action;
}

const char* through_text(Through through) {
  switch (through) {
    case Through::mount: break;
    case Through::supervisor: return "supervisor";
    case Through::kept_home: return "kept_home";
  }
  return "mount";
}

Json to_json(const std::vector<DestinationRule>& rules) {
  Json json = Json::array();
  for (const DestinationRule& rule : rules)
    json.push_back({{"host", coop::to_text(rule.destination)}, {"origin", to_text(rule.origin)}});
  return json;
}

Json to_json(const NetworkPlan& network) {
  Json publish = Json::array();
  for (const PublishedPort& port : network.publish)
    publish.push_back({{"address", port.address},
                       {"host", port.host},
                       {"sandbox", port.sandbox},
                       {"origin", to_text(port.origin)}});
  Json host_ports = Json::array();
  for (const Listener& listener : network.listeners)
    if (listener.purpose == Listener::Purpose::host_port && !listener.address.contains(':'))
      host_ports.push_back(listener.target);
  return {{"mode", coop::to_text(network.mode)},
          {"allow", to_json(network.allow)},
          {"deny", to_json(network.deny)},
          {"udp", to_json(network.allow_udp)},
          {"publish", publish},
          {"host_ports", host_ports}};
}

// Each step as {"action": name, …its fields}. Path bytes that are not UTF-8 are escaped as \xNN.
struct Fields {
  Json operator()(const MapIds& ids) const {
    return {{"action", "map_ids"},
            {"host_uid", ids.host_uid},
            {"inside_uid", ids.inside_uid},
            {"host_gid", ids.host_gid},
            {"inside_gid", ids.inside_gid}};
  }
  Json operator()(const OffsetClocks& clocks) const {
    return {{"action", "offset_clocks"}, {"seconds", clocks.seconds}};
  }
  Json operator()(const RaiseLoopback&) const { return {{"action", "raise_loopback"}}; }
  Json operator()(const KernelSetting& setting) const {
    return {{"action", "kernel_setting"}, {"file", setting.file}, {"value", setting.value}};
  }
  Json operator()(const AssignAddresses& addresses) const {
    return {{"action", "own_addresses"},
            {"addresses", addresses.own},
            {"everything", addresses.everything}};
  }
  Json operator()(const RedirectTraffic& redirect) const {
    Json datagrams = Json::array();
    for (const DatagramRule& rule : redirect.datagrams)
      datagrams.push_back(
          {{"network", host_text(rule.destination)}, {"port", rule.destination.port.value_or(0)}});
    return {{"action", "redirect_traffic"},
            {"to", redirect.own},
            {"port", redirect.connections},
            {"datagrams", datagrams}};
  }
  Json operator()(const RefuseNeighbours& refuse) const {
    Json networks = Json::array();
    for (const Prefix& network : refuse.networks) networks.push_back(coop::to_text(network));
    return {{"action", "refuse_neighbours"},
            {"networks", networks},
            {"allowed", to_json(refuse.allowed)},
            {"denied", to_json(refuse.denied)}};
  }
  Json operator()(const Listen& listen) const {
    return {
        {"action", "listen"}, {"address", listen.listener.address}, {"port", listen.listener.port}};
  }
  Json operator()(const JoinNetwork&) const { return {{"action", "join_network"}}; }
  Json operator()(const ConfigureLink& link) const {
    return {{"action", "configure_link"}, {"address", link.address}, {"gateway", link.gateway}};
  }
  Json operator()(const SetHostname& hostname) const {
    return {{"action", "set_hostname"}, {"name", printable(hostname.name)}};
  }
  Json operator()(const RootTmpfs&) const { return {{"action", "root_tmpfs"}}; }
  Json operator()(const RootHost&) const { return {{"action", "root_host"}}; }
  Json operator()(const MakeDirectory& directory) const {
    return with_existing({{"action", "make_directory"}, {"target", printable(directory.target)}},
                         directory.existing);
  }
  Json operator()(const MakeFile& file) const {
    return with_existing(
        {{"action", "make_file"}, {"target", printable(file.target)}, {"contents", file.contents}},
        file.existing);
  }
  Json operator()(const CoverFile& file) const {
    return {
        {"action", "cover_file"}, {"target", printable(file.target)}, {"contents", file.contents}};
  }
  Json operator()(const MakeSymlink& link) const {
    return with_existing({{"action", "make_symlink"},
                          {"target", printable(link.target)},
                          {"link", printable(link.link)}},
                         link.existing);
  }
  Json operator()(const BindMount& bind) const {
    return {{"action", "bind"},
            {"source", printable(bind.source)},
            {"target", printable(bind.target)},
            {"flags", to_json(bind.flags)},
            {"through", through_text(bind.through)}};
  }
  Json operator()(const Remount& remount) const {
    return {{"action", "remount"},
            {"target", printable(remount.target)},
            {"flags", to_json(remount.flags)}};
  }
  Json operator()(const TmpfsMount& tmpfs) const {
    return {{"action", "tmpfs"},
            {"target", printable(tmpfs.target)},
            {"size", tmpfs.size},
            {"inodes", tmpfs.inodes},
            {"flags", to_json(tmpfs.flags)}};
  }
  Json operator()(const HideMount& hide) const {
    return {{"action", "hide"}, {"target", printable(hide.target)}};
  }
  Json operator()(const OverlayMount& overlay) const {
    return {{"action", "overlay"},
            {"lower", printable(overlay.lower)},
            {"target", printable(overlay.target)},
            {"size", overlay.size}};
  }
  Json operator()(const ProcFilesystem& proc) const {
    return {{"action", "proc"},
            {"subset", proc.kind == ProcMount::pid_subset ? "pid" : ""},
            {"machine", coop::to_text(proc.machine)}};
  }
  Json operator()(const DevptsMount&) const { return {{"action", "devpts"}}; }
  Json operator()(const MqueueMount&) const { return {{"action", "mqueue"}}; }
  Json operator()(const Seal& seal) const {
    return {{"action", "seal"}, {"target", printable(seal.target)}};
  }
  Json operator()(const EnterRoot&) const { return {{"action", "enter_root"}}; }
  Json operator()(const ResourceLimit& limit) const {
    const char* const key = limit.kind == LimitKind::part ? "divided_by" : "value";
    return {{"action", "resource_limit"}, {"name", limit.name}, {key, limit.value}};
  }
  Json operator()(const DropCapabilities&) const { return {{"action", "drop_capabilities"}}; }
  Json operator()(const NoNewPrivileges&) const { return {{"action", "no_new_privileges"}}; }
  Json operator()(const RestrictLandlock& restrict) const {
    Json rules = Json::array();
    for (const LandlockRule& rule : restrict.rules)
      rules.push_back(
          {{"path", printable(rule.path)}, {"rights", landlock::names_of(rule.rights)}});
    return {{"action", "landlock"}, {"abi", restrict.abi}, {"rules", rules}};
  }
  Json operator()(const RefuseForeignIds& ids) const {
    return {{"action", "refuse_foreign_ids"}, {"uid", ids.uid}, {"gid", ids.gid}};
  }
  Json operator()(const InstallSeccomp& install) const {
    return {{"action", "seccomp"}, {"profile", install.profile}};
  }
  Json operator()(const Verify&) const { return {{"action", "verify"}}; }
};

}  // namespace

std::string plan_json(const Plan& plan) {
  Json steps = Json::array();
  for (const Step& step : plan.steps) {
    Json json = std::visit(Fields{}, step.action);
    json["says"] = plan::sentence(step.action);
    json["origin"] = to_text(step.origin);
    json["why"] = step.why;
    steps.push_back(std::move(json));
  }
  Json limits = Json::array();
  for (const GroupLimit& limit : plan.group.limits)
    limits.push_back({{"controller", limit.controller},
                      {"parent", limit.parent},
                      {"file", limit.file},
                      {"value", limit.value}});
  Json environment = Json::object();
  for (const auto& [name, value] : plan.environment)
    environment[printable(name)] = printable(value);
  Json guarded = Json::array();
  for (const Path& path : plan.guards.mounted) guarded.push_back(printable(path));
  Json served = Json::array();
  for (const GitDirectory& git : plan.guards.served) served.push_back(printable(git.path));
  const Json json{{"session", plan.id},
                  {"view", coop::to_text(plan.view)},
                  {"workspace", printable(plan.workspace)},
                  {"directory", printable(plan.directory)},
                  {"namespaces", plan.namespaces},
                  {"steps", steps},
                  {"group",
                   {{"name", plan.group.name},
                    {"limits", limits},
                    {"sampled_memory", plan.group.sampled_memory ? Json(*plan.group.sampled_memory)
                                                                 : Json(nullptr)}}},
                  {"guards",
                   {{"names", plan.guards.names},
                    {"read_only", guarded},
                    {"served", served},
                    {"unserved", plan.guards.unserved}}},
                  {"network", to_json(plan.network)},
                  {"environment", environment},
                  {"notes", plan.notes}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace coop::report
