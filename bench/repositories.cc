#include "repositories.h"

#include <sys/stat.h>

#include "base/path.h"
#include "peers.h"
#include "tool_calls.h"

namespace coop::bench {

namespace {

const Words kTrue{"/bin/true"};
constexpr const char* kWalls = "namespaces, mounts, seccomp, Landlock, guards, limits";

Result<Launch> usual_bwrap(const Path& workspace) {
  const Path program = TRY(find_program("bwrap"));
  Launch launch{.arguments = {program, "--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink",
                              "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"}};
  struct stat status{};
  if (::stat("/usr/lib64", &status) == 0)
    for (const char* const word : {"--symlink", "usr/lib64", "/lib64"})
      launch.arguments.emplace_back(word);
  for (const std::string& word :
       Words{"--bind", workspace, "/work", "--tmpfs", "/tmp", "--dev", "/dev", "--proc", "/proc",
             "--die-with-parent", "--new-session", "/bin/true"})
    launch.arguments.push_back(word);
  return launch;
}

std::vector<Contender> contenders_in(const Ring& ring, const Path& workspace) {
  std::vector<Contender> all;
  all.push_back(from_launch("bare posix_spawn", "none", Launch{.arguments = kTrue}, *ring.scratch));
  all.push_back(
      from_launch(kUsualBwrap, "namespaces, mounts", usual_bwrap(workspace), *ring.scratch));
  all.push_back(from_launch(kDefaultRun, kWalls, coop_launch(ring.coop, workspace, {}, kTrue),
                            *ring.scratch));
  all.push_back(from_launch(kBareShell, "none", Launch{.arguments = {"/bin/sh", "-c", "true"}},
                            *ring.scratch));
  all.push_back(through_mcp(ring, workspace, kWarmCall, {}));
  return all;
}

}  // namespace

std::vector<RepositoryRows> measure_repositories(const Ring& ring,
                                                 const std::vector<std::size_t>& sizes,
                                                 std::size_t rounds, Random& random) {
  std::vector<RepositoryRows> all;
  for (const std::size_t files : sizes) {
    RepositoryRows one{.files = files};
    const Result<Repository> made =
        ring.scratch->large_repository("files" + std::to_string(files), files);
    if (made) {
      one.directories = made->directories;
      one.rows = measure_latency(contenders_in(ring, made->path), rounds, random);
    } else {
      one.trouble = to_text(made.error());
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace coop::bench
