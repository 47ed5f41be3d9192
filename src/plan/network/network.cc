#include "plan/network/network.h"

#include <algorithm>
#include <cstdint>

#include "base/path.h"
#include "plan/compile.h"
#include "policy/builtin.h"
#include "policy/destinations/cover.h"
#include "policy/destinations/host_groups.h"
#include "policy/policy.h"
#include "report/words/words.h"

namespace coop::plan {

namespace {

// In 198.18.0.0/15 (RFC 2544), which is routed nowhere, so programs inside do not use it
// themselves. Synthetic addresses of names begin at 198.18.1.0.
constexpr const char* kOwn4 = "198.18.0.1";
constexpr const char* kOwn6 = "fdc0:6f70::c612:1";
constexpr std::uint16_t kDnsPort = 53;
constexpr std::uint16_t kConnectionsPort = 1;
constexpr std::uint16_t kProxyPort = 1080;
constexpr std::uint16_t kFirstDatagramPort = 20000;
constexpr std::uint32_t kVethLink = 100;  // a number that no interface of a new namespace has

constexpr const char* kHostsFile = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n";
constexpr const char* kNsswitchFile =
    "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n";
// Without a server programs ask 127.0.0.1, which answers "connection refused" at once. The host's servers would not
// answer at all, and each name would take seconds.
constexpr const char* kNoServerFile = "# no network: there is no name server\n";
// The server is local: an answer comes at once or never.
constexpr const char* kResolvFile = "nameserver 198.18.0.1\noptions timeout:5 attempts:2\n";

Origin mode_origin(const Policy& policy) {
  return origin_of(policy, "network", "--network", to_text(policy.network));
}
std::string mode_flag(const Policy& policy) {
  return "--network " + std::string(to_text(policy.network));
}

bool has_names(NetworkMode mode) {
  return mode == NetworkMode::allowlist || mode == NetworkMode::full || mode == NetworkMode::veth;
}

bool names_addresses(const DestinationRule& rule) {
  return rule.destination.kind == Destination::Kind::network;
}

// The host's and the sandbox's end of a /30 link, which differs between sandboxes.
struct Link {
  std::string host;
  std::string sandbox;
};
Link link_for(const std::string& id) {
  std::uint32_t hash = 2166136261U;
  for (const char letter : id) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  const std::uint32_t block = hash % (65536 / 4) * 4;
  const std::string start = "198.19." + std::to_string(block / 256) + ".";
  return {start + std::to_string(block % 256 + 1), start + std::to_string(block % 256 + 2)};
}

class Planner {
 public:
  Planner(Plan& plan, const Policy& policy, const HostFacts& host)
      : plan_(plan), policy_(policy), host_(host), origin_(mode_origin(policy)) {
    own_.emplace_back(kOwn4);
    if (host.ipv6) own_.emplace_back(kOwn6);
  }

  void run() {
    NetworkPlan& network = plan_.network;
    network.mode = policy_.network;
    network.ipv6 = host_.ipv6;
    if (policy_.network == NetworkMode::host) return;
    network.publish = policy_.publish;
    if (has_names(policy_.network)) {
      network.allow = policy_.allow_net;
      network.deny = policy_.deny_net;
    }
    if (policy_.network == NetworkMode::allowlist) add_allow_list();
    else if (has_names(policy_.network)) add_open();
    for (const HostPort& port : policy_.host_ports) add_host_port(port);
    for (const Listener& listener : network.listeners)
      plan_.add(Listen{listener}, origin_of(listener), reason_of(listener));
    if (!network.needs_service()) return;
    plan_.add(JoinNetwork{network.provider}, origin_,
              "the supervisor decides about each connection");
    if (network.provider != NetworkProvider::veth) return;
    const Link link = link_for(policy_.id);
    plan_.add(ConfigureLink{kVethLink, link.sandbox, 30, link.host}, origin_,
              "the way to the host");
  }

 private:
  void listen(Listener::Purpose purpose, std::uint16_t port) {
    for (const std::string& address : own_)
      plan_.network.listeners.push_back({.purpose = purpose, .address = address, .port = port});
  }

  void add_allow_list() {
    NetworkPlan& network = plan_.network;
    network.allow_udp = policy_.allow_udp;
    plan_.add(AssignAddresses{own_, true}, origin_, "no packet can leave; each reaches us instead");
    RedirectTraffic redirect{.own = own_, .connections = kConnectionsPort};
    std::uint16_t listener = kFirstDatagramPort;
    for (const DestinationRule& rule : policy_.allow_udp)
      redirect.datagrams.push_back({rule.destination, listener++});
    listen(Listener::Purpose::names, kDnsPort);
    listen(Listener::Purpose::name_streams, kDnsPort);
    listen(Listener::Purpose::connections, kConnectionsPort);
    listen(Listener::Purpose::proxy, kProxyPort);
    for (const DatagramRule& rule : redirect.datagrams)
      network.listeners.push_back(
          {.purpose = Listener::Purpose::datagrams,
           .address = rule.destination.network.address.size() == 16 ? "::" : "0.0.0.0",
           .port = rule.listener,
           .target = rule.destination.port.value_or(0)});
    plan_.add(std::move(redirect), origin_, "any program's connections, with or without a proxy");
  }

  void add_open() {
    NetworkPlan& network = plan_.network;
    if (policy_.network == NetworkMode::full) {
      const bool pasta = host_.pasta.available;
      network.provider = pasta ? NetworkProvider::pasta : NetworkProvider::slirp4netns;
      network.program = (pasta ? host_.pasta : host_.slirp4netns).program;
    } else {
      network.provider = NetworkProvider::veth;
      network.link = "coop-" + policy_.id.substr(0, 8);
      network.subnet = link_for(policy_.id).host;
    }
    plan_.add(AssignAddresses{own_, false}, origin_, "where names are asked for");
    network.neighbours = host_.networks;
    plan_.add(RefuseNeighbours{host_.networks, policy_.allow_net, policy_.deny_net, host_.ipv6},
              origin_, "an open network is the internet, not the machines nearby");
    listen(Listener::Purpose::names, kDnsPort);
    listen(Listener::Purpose::name_streams, kDnsPort);
  }

  void add_host_port(const HostPort& port) {
    for (const char* address : {"127.0.0.1", "::1"}) {
      if (!host_.ipv6 && std::string_view(address) == "::1") continue;
      plan_.network.listeners.push_back({.purpose = Listener::Purpose::host_port,
                                         .address = address,
                                         .port = port.port,
                                         .target = port.port});
    }
  }

  Origin origin_of(const Listener& listener) const {
    if (listener.purpose != Listener::Purpose::host_port) return origin_;
    const auto found = std::ranges::find(policy_.host_ports, listener.target, &HostPort::port);
    return found == policy_.host_ports.end() ? origin_ : found->origin;
  }

  static std::string reason_of(const Listener& listener) {
    switch (listener.purpose) {
      case Listener::Purpose::names:
      case Listener::Purpose::name_streams: return "answers for names";
      case Listener::Purpose::connections: return "takes the redirected connections";
      case Listener::Purpose::proxy: return "for programs that want a proxy, HTTP or SOCKS5";
      case Listener::Purpose::host_port: return "leads to the same port of the host";
      case Listener::Purpose::datagrams: return "takes the datagrams of one rule";
    }
    return {};
  }

  Plan& plan_;
  const Policy& policy_;
  const HostFacts& host_;
  Origin origin_;
  std::vector<std::string> own_{};
};

// A program that embeds us may have filled the values itself, and a destination that no text reads as denies nothing.
Result<void> check_destinations(const std::vector<DestinationRule>& rules,
                                Result<Destination> (*parse)(std::string_view)) {
  for (const DestinationRule& rule : rules) {
    const std::string text = to_text(rule.destination);
    const Destination read = TRY(with_context(rule.origin, parse(text)));
    if (read != rule.destination)
      return invalid(rule.origin, in_quotes(text) + " is not a valid destination",
                     "make it with parse_destination()");
  }
  return {};
}

Result<void> check_open(const Policy& policy) {
  for (const DestinationRule& rule : policy.deny_net)
    if (!names_addresses(rule))
      return unsupported(rule.origin,
                         "\"" + to_text(rule.destination) + "\" is a name, and " +
                             mode_flag(policy) + " cannot keep a name out",
                         "deny its addresses, or use --network allowlist");
  return {};
}

std::unexpected<Error> no_provider(const HostFacts& host) {
  for (const Feature* feature : {&host.pasta, &host.slirp4netns})
    if (!feature->program.empty())
      return unsupported(
          "--network full", feature->reason,
          feature->fix + (feature->fix.empty() ? "" : "; ") + "--network allowlist does without");
  return unsupported("--network full", "neither pasta nor slirp4netns is installed",
                     "install the package passt or slirp4netns; --network allowlist needs neither");
}

}  // namespace

Result<void> check_network(const Policy& policy, const HostFacts& host) {
  TRY(check_destinations(policy.allow_net, parse_destination));
  TRY(check_destinations(policy.deny_net, parse_destination));
  TRY(check_destinations(policy.allow_udp, parse_udp_destination));
  if (policy.network == NetworkMode::veth && host.uid != 0)
    return unsupported("--network veth", "making a link to the host needs root",
                       "--network full gives the internet without privilege, --network allowlist "
                       "gives it by domain");
  if (policy.network == NetworkMode::full && !host.pasta.available && !host.slirp4netns.available)
    return no_provider(host);
  if (policy.network == NetworkMode::full || policy.network == NetworkMode::veth)
    TRY(check_open(policy));
  return {};
}

namespace {

// A rule for this machine's loopback, which has no effect.
void note_loopback(Plan& plan, const std::vector<DestinationRule>& rules) {
  for (const DestinationRule& rule : rules)
    if (policy::is_loopback(rule.destination))
      plan.notes.push_back(report::in_words(rule.origin) + " " + to_text(rule.destination) +
                           ": inside, this is the sandbox itself; --host-port PORT leads to this "
                           "machine's");
}

}  // namespace

void add_network(Plan& plan, const Policy& policy, const HostFacts& host) {
  Planner(plan, policy, host).run();
  if (policy.network != NetworkMode::host) {
    note_loopback(plan, policy.allow_net);
    note_loopback(plan, policy.allow_udp);
  }
  if (policy.network != NetworkMode::full && policy.network != NetworkMode::veth) return;
  const Origin* group = nullptr;
  for (const DestinationRule& rule : policy.allow_net) {
    if (names_addresses(rule) || (group != nullptr && *group == rule.origin)) continue;
    // One note for all hosts of a group.
    const bool grouped = !policy::group_of(rule.origin).empty();
    group = grouped ? &rule.origin : nullptr;
    plan.notes.push_back(report::in_words(rule.origin) +
                         (grouped ? "" : " " + to_text(rule.destination)) +
                         ": a name opens nothing in " + mode_flag(policy) +
                         ", where only private addresses need a grant");
  }
}

void add_name_files(std::vector<Entry>& entries, const Policy& policy, const HostFacts& host,
                    std::vector<std::string>& notes) {
  const bool names = has_names(policy.network);
  const bool shared = policy.network == NetworkMode::host;
  const auto add = [&](const char* path, std::string text, const char* why) {
    Entry entry{.kind = Entry::Kind::file,
                .target = path,
                .text = std::move(text),
                .origin = mode_origin(policy),
                .why = why};
    if (policy.view == View::minimal) return entries.push_back(std::move(entry));
    // The host's file exists. Its real path may be in a file system that is empty inside, such as
    // /run.
    const PathFact& fact = host.fact(path);
    const bool fresh = is_within(fact.canonical, "/run");
    if (fact.kind == PathKind::missing) {
      if (names)
        notes.push_back(std::string(path) + " is not on the host, so there is none inside: names " +
                        "may not be found with --view host");
      return;
    }
    if (fact.kind == PathKind::symlink && !fact.canonical.empty()) entry.target = fact.canonical;
    // A symlink to a missing file, as systemd's when it does not run.
    if (fact.target_kind == PathKind::missing || fresh)
      entry.target = fact.canonical.empty() ? normalize(fact.link, "/etc") : fact.canonical;
    else entry.kind = Entry::Kind::cover;
    entries.push_back(std::move(entry));
  };
  const auto show = [&](const char* path, const char* why) {
    const PathFact& fact = host.fact(path);
    if (policy.view != View::minimal || fact.target_kind != PathKind::file) return;
    entries.push_back(Entry{.kind = Entry::Kind::bind,
                            .target = path,
                            .source = fact.canonical,
                            .shape = PathKind::file,
                            .origin = mode_origin(policy),
                            .why = why});
  };
  if (shared) {
    show("/etc/resolv.conf", "the host's name servers");
    show("/etc/hosts", "the host's own names");
  } else {
    if (names) add("/etc/resolv.conf", kResolvFile, "names are asked of the supervisor");
    else add("/etc/resolv.conf", kNoServerFile, "there is no name server to wait for");
    const std::string name = hostname_of(policy, host) + "\n";
    add("/etc/hosts", kHostsFile + ("127.0.1.1 " + name) + "::1 " + name,
        "localhost has an address, and so has the sandbox's own name");
  }
  if (policy.view == View::minimal || names)
    add("/etc/nsswitch.conf", kNsswitchFile, "how names are looked up");
}

void add_proxy_variables(std::map<std::string, std::string>& environment, const Policy& policy) {
  if (policy.network != NetworkMode::allowlist) return;
  const std::string proxy = "http://" + std::string(kOwn4) + ":" + std::to_string(kProxyPort);
  // ALL_PROXY is HTTP too: a socks5h:// URL breaks programs without SOCKS support, and the same
  // port serves both.
  const auto set = [&](const char* upper, const char* lower, const std::string& value) {
    // A user's value in either spelling applies to both: programs differ in which they read.
    auto mine = environment.find(upper);
    if (mine == environment.end()) mine = environment.find(lower);
    const std::string chosen = mine == environment.end() ? value : mine->second;
    environment.try_emplace(upper, chosen);
    environment.try_emplace(lower, chosen);
  };
  set("HTTP_PROXY", "http_proxy", proxy);
  set("HTTPS_PROXY", "https_proxy", proxy);
  set("ALL_PROXY", "all_proxy", proxy);
  set("NO_PROXY", "no_proxy", "localhost,127.0.0.1,::1");
}

namespace {

// The author of the rule checked what is at that path. Between two commands of an agent an earlier
// one may have created a symlink there to another socket of the host. And a bind mount of the host gives a socket a
// harmless name.
Result<void> check_socket(const SocketRule& rule, const PathFact& fact, const Policy& policy,
                          const HostFacts& host) {
  std::vector<std::string> notes;
  const PathRule like{.kind = RuleKind::read_write, .path = rule.path, .origin = rule.origin};
  TRY(check_link(like, fact, policy, host, notes));
  if (policy::control_socket_reason(rule.path)) return {};
  std::vector<Path> names = mount_aliases(fact.canonical, host.mounts);
  names.insert(names.begin(), fact.canonical);
  for (const Path& name : names)
    if (const std::optional<std::string> reason = policy::control_socket_reason(name))
      return invalid(rule.origin,
                     in_quotes(rule.path) + " is " + in_quotes(name) +
                         ", which controls this machine: " + *reason,
                     "name the socket itself if you intend this");
  return {};
}

}  // namespace

Result<void> add_socket_grants(std::vector<Entry>& entries, const Policy& policy,
                               const HostFacts& host) {
  for (const SocketRule& rule : policy.sockets) {
    const PathFact& fact = host.fact(rule.path);
    if (fact.target_kind == PathKind::missing)
      return invalid(rule.origin, "there is no " + in_quotes(rule.path),
                     "name the socket of a server that runs");
    if (fact.target_kind != PathKind::socket)
      return invalid(rule.origin, in_quotes(rule.path) + " is not a socket",
                     "files and directories are shown with --ro and --rw");
    TRY(check_socket(rule, fact, policy, host));
    // Under its own path, and everywhere else it is visible: the workspace has another path in the
    // minimal view.
    std::vector<Path> places = places_of(fact.canonical, entries, policy.view);
    const Path& name = fact.kind == PathKind::symlink ? fact.canonical : rule.path;
    if (std::ranges::find(places, name) == places.end()) places.push_back(name);
    for (Path& place : places)
      entries.push_back(Entry{.kind = Entry::Kind::bind,
                              .target = std::move(place),
                              .source = fact.canonical,
                              .shape = PathKind::file,
                              .flags = {.access = Access::read_write, .exec = false},
                              .rank = Rank::granted_socket,
                              .origin = rule.origin,
                              .why = "a socket of the host that was asked for"});
  }
  return {};
}

}  // namespace coop::plan
