#include "compile_job.h"

#include "peers.h"
#include "run/prepare.h"

namespace coop::bench {

namespace {

// Many headers and template instantiations: a typical compile job.
std::string source(int number) {
  constexpr int kTypes = 2;
  std::string text =
      "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n"
      "#include <string>\n#include <vector>\n";
  for (int index = 0; index < kTypes; ++index) {
    const std::string id = std::to_string(number) + "_" + std::to_string(index);
    text += "struct Type" + id + " { int key; std::string name; };\n";
    text += "int use" + id + "(std::vector<Type" + id + ">& all) {\n";
    text += "  std::ranges::sort(all, std::less<>{}, &Type" + id + "::key);\n";
    text += "  std::map<std::string, Type" + id + "> by_name;\n";
    text += "  for (auto& one : all) by_name.emplace(one.name, one);\n";
    text += "  std::function<int(const Type" + id +
            "&)> key = [](const auto& one) { return one.key; };\n";
    text += "  int sum = 0;\n  for (auto& [name, one] : by_name) sum += key(one);\n";
    text += "  return sum;\n}\n";
  }
  return text;
}

}  // namespace

Result<std::vector<Contender>> compile_contenders(const Ring& ring) {
  const Scratch& scratch = *ring.scratch;
  const Path place = TRY(scratch.directory("compile"));
  TRY(scratch.file("compile/first.cc", source(1)));
  TRY(scratch.file("compile/second.cc", source(2)));
  const Path compiler = TRY(find_program("g++"));
  const Words command{compiler, "-std=c++20", "-O1", "-c", "first.cc", "second.cc"};

  Policy policy = comparable_policy(ring);
  policy.workspace = place;
  policy.hostname = "coop-bench";
  const run::Prepared prepared = TRY(run::prepare(std::move(policy)));

  std::vector<Contender> all;
  all.push_back(
      from_launch("bare", "none", Launch{.arguments = command, .directory = place}, scratch));
  all.push_back(from_launch("coop run", "namespaces, mounts, seccomp, Landlock",
                            coop_launch(ring.coop, place, kComparableFlags, command), scratch));
  all.push_back(from_launch("bwrap + seccomp", "same namespaces and mounts, coop's seccomp filter",
                            bwrap_launch(prepared.plan, scratch, Filter::seccomp, command),
                            scratch));
  return all;
}

}  // namespace coop::bench
