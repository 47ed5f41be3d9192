// Caches of toolchains: what a sandbox leaves in one must not run on the host, nor be seen by the next sandbox.
#include <gmock/gmock.h>

#include "kernel/support.h"

namespace coop::tests {
namespace {

class HomeWithCaches {
 public:
  HomeWithCaches() : workspace_(visible_place()) {
    for (const char* directory :
         {".npm/_cacache", ".npm/_npx/1/node_modules", ".cargo/registry/cache/index",
          ".cargo/registry/src/crate", ".cargo/bin", ".cache/pip", ".cache/huggingface/hub",
          "go/pkg/mod/cache/vcs/1", "go/pkg/mod/pkg"})
      make_directories(*this / directory);
    for (const char* file :
         {".npm/_cacache/old", ".npm/_npx/1/node_modules/run.js",
          ".cargo/registry/src/crate/build.rs", ".cargo/registry/cache/index/old.crate",
          ".cargo/bin/tool", ".cache/pip/wheel", ".cache/huggingface/token",
          ".cache/huggingface/hub/model", "go/pkg/mod/cache/vcs/1/config",
          "go/pkg/mod/pkg/main.go"})
      write_file(*this / file, "host");
  }

  std::string operator/(const std::string& name) const { return workspace_.around() / name; }
  const Workspace& workspace() const { return workspace_; }
  Ran run(const std::string& script, const std::string& view, Arguments flags) const {
    return workspace_.run(shell(script), in_view(view, std::move(flags)), workspace_.options());
  }

 private:
  Workspace workspace_;
};

KERNEL_TEST(EscapeCaches, CodePlantedInACacheDoesNotReachTheHost) {
  const HomeWithCaches home;
  const std::string plant =
      "cd " + (home / ".npm") +
      " && mkdir -p _npx/1/node_modules _cacache && echo evil > "
      "_npx/1/node_modules/run.js; echo evil > _cacache/old; cat _cacache/old";
  for (const std::string& view : kViews) {
    EXPECT_EQ(home.run(plant, view, {"--cache", "npm"}).out, "evil\n");  // private
    EXPECT_EQ(read_file(home / ".npm/_npx/1/node_modules/run.js"), "host");
    EXPECT_EQ(read_file(home / ".npm/_cacache/old"), "host");
    // And the next sandbox sees the host's.
    EXPECT_EQ(home.run("cat " + (home / ".npm/_cacache/old"), view, {"--cache", "npm"}).out,
              "host");
  }
  // Control: with the grant that names the directory it does.
  EXPECT_EQ(home.run(plant, "host", {"--rw", home / ".npm"}).out, "evil\n");
  EXPECT_EQ(read_file(home / ".npm/_npx/1/node_modules/run.js"), "evil\n");
}

KERNEL_TEST(EscapeCaches, SharingExcludesWhatRuns) {
  for (const std::string& view : kViews) {
    const HomeWithCaches home;
    const std::string plant =
        "cd \"$CARGO_HOME\" && echo new > registry/cache/index/new.crate; echo evil > "
        "registry/src/crate/build.rs; mkdir -p bin; echo evil > bin/tool; echo evil > bin/other";
    home.run(plant, view, {"--share-cache", "cargo"});
    EXPECT_EQ(read_file(home / ".cargo/registry/cache/index/new.crate"), "new\n") << view;
    EXPECT_EQ(read_file(home / ".cargo/registry/src/crate/build.rs"), "host");
    EXPECT_EQ(read_file(home / ".cargo/bin/tool"), "host");
    EXPECT_FALSE(exists(home / ".cargo/bin/other"));
  }
  const HomeWithCaches home;
  for (const char* name : {"pip", "uv", "go", "maven"}) {
    const Ran refused = home.run("true", "host", {"--share-cache", name});
    EXPECT_EQ(refused.exit_code, 125);
    EXPECT_THAT(refused.err, testing::HasSubstr("--cache " + std::string(name)));
  }
}

KERNEL_TEST(EscapeCaches, TokensBesideACache) {
  const HomeWithCaches home;
  for (const std::string& view : kViews) {
    const Ran model = home.run("cat $HF_HOME/hub/model", view, {"--cache", "huggingface"});
    EXPECT_EQ(model.out, "host") << view << model.err;  // control
    EXPECT_NE(home.run("cat $HF_HOME/token", view, {"--cache", "huggingface"}).exit_code, 0);
    const Ran go = home.run(
        "cat $GOMODCACHE/pkg/main.go; ls $GOMODCACHE/cache/vcs; touch "
        "$GOMODCACHE/cache/vcs/new && echo made",
        view, {"--cache", "go"});
    EXPECT_EQ(go.out, "hostmade\n") << view << go.err;
    EXPECT_FALSE(exists(home / "go/pkg/mod/cache/vcs/new"));
  }
}

KERNEL_TEST(EscapeCaches, WithTheWholeHomeShown) {
  const HomeWithCaches home;
  const Ran ran = home.run(
      "echo evil > ~/.cache/pip/wheel; cat ~/.cache/pip/wheel; cat "
      "~/.cache/huggingface/token",
      "host", {"--show-home", "--cache", "pip"});
  EXPECT_EQ(ran.out, "evil\n");
  EXPECT_EQ(read_file(home / ".cache/pip/wheel"), "host");
}

KERNEL_TEST(EscapeCaches, AFlagWithoutEffectIsAnError) {
  const HomeWithCaches home;
  const Ran minimal = home.run("true", "minimal", {"--cache", "maven"});
  EXPECT_EQ(minimal.exit_code, 125);
  EXPECT_THAT(minimal.err, testing::HasSubstr("--view host"));
  EXPECT_EQ(home.run("true", "host", {"--cache", "maven"}).exit_code, 0);  // control
  // It is not there, and cannot be made in a home that is shown read-only.
  EXPECT_EQ(home.run("true", "host", {"--show-home", "--cache", "maven"}).exit_code, 125);
  for (const std::string& view : kViews)  // a new, private one
    EXPECT_EQ(
        home.run("echo x > $UV_CACHE_DIR/x || mkdir -p $UV_CACHE_DIR", view, {"--cache", "uv"})
            .exit_code,
        0);
}

}  // namespace
}  // namespace coop::tests
