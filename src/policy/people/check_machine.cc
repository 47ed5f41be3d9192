// Checks what the configuration requires of this machine: a kernel feature, a program, an image.
#include <algorithm>
#include <array>

#include "base/path.h"
#include "base/text.h"
#include "policy/people/check_list.h"
#include "policy/quoted.h"

namespace coop::policy {

namespace {

struct Backend {
  std::string_view name;
  std::string_view program;
  bool image;  // it needs an image
};

constexpr std::array kBackends{
    Backend{"bwrap", "bwrap", false},       Backend{"docker", "docker", true},
    Backend{"podman", "podman", true},      Backend{"gvisor", "runsc", true},
    Backend{"apple", "container", true},    Backend{"sandbox-exec", "sandbox-exec", false},
    Backend{"kubernetes", "kubectl", true},
};

const Backend* find_backend(std::string_view name) {
  const auto found = std::ranges::find(kBackends, name, &Backend::name);
  return found == kBackends.end() ? nullptr : &*found;
}

// The program a backend needs; empty for those that need none.
std::string_view program_of(std::string_view backend) {
  const Backend* found = find_backend(backend);
  return found == nullptr ? std::string_view() : found->program;
}

Feature feature_of(const HostFacts& host, const char* name) {
  const auto found = host.namespaces.find(name);
  return found == host.namespaces.end() ? Feature{.reason = "not tried"} : found->second;
}

// The first reason why the sandbox cannot run.
Feature obstacle(const HostFacts& host) {
  for (const char* name : {"user", "mount", "pid", "net", "ipc", "uts"}) {
    Feature feature = feature_of(host, name);
    if (feature.available) continue;
    feature.reason = std::string("no ") + name + " namespaces: " + feature.reason;
    return feature;
  }
  if (!host.seccomp.available)
    return {.reason = "no seccomp filter: " + host.seccomp.reason, .fix = host.seccomp.fix};
  if (host.proc == ProcMount::refused)
    return host.proc_refusal.reason.empty()
               ? Feature{.reason = "the kernel refuses a /proc of the sandbox's own",
                         .fix = "unmount what lies over parts of /proc"}
               : host.proc_refusal;
  return {.reason = "see `coop status`"};
}

// Whether a section whose sandbox is enabled is like that.
bool any_enabled(const Config& config, const auto& wanted) {
  return std::ranges::any_of(sandbox_sections(config), [&](const Section& section) {
    return sandbox_enabled(config, section.agent) && wanted(section);
  });
}

bool kernel_is_used(const Config& config) {
  return any_enabled(config, [&](const Section& section) {
    const std::string_view backend = effective_word(config, section, Key::backend);
    return backend.empty() || backend == "auto" || backend == "kernel";
  });
}

bool is_required(const Config& config, Key mechanism) {
  return any_enabled(config, [&](const Section& section) {
    return effective_word(config, section, mechanism) == "required";
  });
}

// A mechanism that is weaker here than it could be, with the setting that can require it.
struct Weakness {
  Key key;
  std::string text;
  std::string fix;
};

std::vector<Weakness> weaknesses(const HostFacts& host) {
  std::vector<Weakness> found;
  if (host.landlock_abi == 0)
    found.push_back({Key::landlock, "without Landlock, the second check on file access",
                     "use Linux 5.13 or later with landlock in the lsm= boot parameter"});
  if (host.cgroup.kind == CgroupKind::none) {
    const std::string why = host.cgroup.reason.empty() ? "" : ": " + printable(host.cgroup.reason);
    found.push_back({Key::limits,
                     "without a control group, so limits hold for each process alone" + why,
                     "make the control group writable for coop, or start it with "
                     "systemd-run --user --scope"});
  }
  return found;
}

}  // namespace

std::vector<std::string> programs_to_check(const Config& config) {
  std::vector<std::string> programs;
  for (const Section& section : sandbox_sections(config)) {
    const std::string program(program_of(word_of(*section.settings, Key::backend)));
    if (!program.empty() && !contains(programs, program)) programs.push_back(program);
  }
  return programs;
}

void check_available(const Config& config, const CheckFacts& facts, Findings& findings) {
  if (!kernel_is_used(config)) return;
  const Origin origin = origin_of_mode(config);
  if (!facts.can_sandbox) {
    const Feature why = obstacle(facts.host);
    add_finding(findings, Severity::error, "sandbox_available", origin,
                "the sandbox is enabled and cannot run on this machine: " + printable(why.reason),
                printable(why.fix));
    return;
  }
  const std::vector<Weakness> weak = weaknesses(facts.host);
  for (const Weakness& weakness : weak) {
    const bool required = is_required(config, weakness.key);
    add_finding(findings, required ? Severity::error : Severity::warning, "sandbox_available",
                origin,
                "the sandbox runs " + weakness.text +
                    (required ? ", which the configuration requires" : ""),
                weakness.fix);
  }
  if (weak.empty())
    add_finding(findings, Severity::info, "sandbox_available", origin,
                "the sandbox runs here: " + printable(facts.isolation));
}

void check_user_namespaces(const Config& config, const CheckFacts& facts, Findings& findings) {
  const Feature feature = feature_of(facts.host, "user");
  if (feature.available || !kernel_is_used(config)) return;
  add_finding(findings, Severity::error, "sandbox_user_namespaces", origin_of_mode(config),
              "the sandbox needs user namespaces: " + printable(feature.reason),
              printable(feature.fix));
}

void check_backend(const Config& config, const CheckFacts& facts, Findings& findings) {
  for (const Section& section : sandbox_sections(config)) {
    const std::string_view backend = word_of(*section.settings, Key::backend);
    const std::string program(program_of(backend));
    if (program.empty() || !enabled_for(config, section)) continue;
    if (contains(facts.programs, program)) continue;
    add_finding(findings, Severity::error, "sandbox_backend",
                section.settings->at(Key::backend).origin,
                section.whose + ": backend " + quote(backend) + " needs the program " + program +
                    ", which is not installed",
                "install " + program + ", or set backend = \"auto\"");
  }
}

void check_image(const Config& config, const CheckFacts& facts, Findings& findings) {
  for (const Section& section : all_sections(config)) {
    const std::string_view image = word_of(*section.settings, Key::base_image);
    if (image.empty() || !enabled_for(config, section)) continue;
    const Origin& origin = section.settings->at(Key::base_image).origin;
    const Backend* backend = find_backend(effective_word(config, section, Key::backend));
    if (backend == nullptr || !backend->image)
      add_finding(findings, Severity::info, "sandbox_image", origin,
                  section.whose + ": image " + quote(image) +
                      " is not used: the sandbox shows this machine's programs",
                  "for an image, set backend = \"docker\" or \"podman\"");
    else if (!contains(facts.images, image))
      add_finding(findings, Severity::warning, "sandbox_image", origin,
                  section.whose + ": image " + quote(image) +
                      " is not here: it will be pulled on first use",
                  "pull it before, so that the first command need not wait");
  }
}

}  // namespace coop::policy
