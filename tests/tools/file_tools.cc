// What the file tools do when nothing is wrong, and what they say when something is.
#include <gmock/gmock.h>

#include "support/harness.h"
#include "tools/file_attack_tree.h"
#include "tools/shown.h"

namespace coop::tools {
namespace {

using ::testing::HasSubstr;

class FileTools : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string& missing = coop::tests::why_no_sandbox();
    if (!missing.empty() && coop::tests::must_run()) FAIL() << missing;
    if (!missing.empty()) GTEST_SKIP() << missing;
    Result<FileView> made = FileView::of_sandbox(tree_.policy());
    ASSERT_TRUE(made.has_value()) << to_text(made.error());
    view_.emplace(std::move(*made));
  }
  void put(const std::string& name, const std::string& text) {
    tree_.tree().write("ws/" + name, text);
  }
  std::string get(const std::string& name) const {
    return test::read_text(tree_.ws() + "/" + name);
  }
  ToolOutput edit(const Json& arguments) { return edit_file(*view_, arguments); }

  test::AttackTree tree_;
  std::optional<FileView> view_;
};

TEST_F(FileTools, AFileIsReadFromALineOn) {
  put("lines", "one\ntwo\nthree\nfour");
  EXPECT_EQ(read_file(*view_, {{"path", "lines"}}).text, "one\ntwo\nthree\nfour");
  const ToolOutput part = read_file(*view_, {{"path", "lines"}, {"offset", 2}, {"limit", 2}});
  EXPECT_EQ(part.text, "two\nthree\n\n[cut: 2 whole lines are shown; go on with offset 4]");
  EXPECT_EQ(part.structured, (Json{{"outcome", "ok"},
                                   {"path", "lines"},
                                   {"size", 18},
                                   {"next_offset", 4},
                                   {"truncated", true}}));
  EXPECT_EQ(read_file(*view_, {{"path", "lines"}, {"offset", 4}}).text, "four");
  EXPECT_EQ(read_file(*view_, {{"path", "lines"}, {"offset", 9}}).text,
            "[there is no line 9: the file has 3 line ends]");
}

TEST_F(FileTools, MuchIsCutAndBinaryIsNamed) {
  put("long", std::string(300000, 'x'));
  const ToolOutput cut = read_file(*view_, {{"path", "long"}});
  EXPECT_EQ(cut.text.find('\n'), kMostShownText);
  EXPECT_TRUE(cut.structured["truncated"]);
  std::string lines;
  for (int line = 0; line < 3000; ++line) lines += "l\n";
  put("many", lines);
  EXPECT_EQ(read_file(*view_, {{"path", "many"}}).structured["next_offset"], 2001);
  put("binary", std::string("\x7f"
                            "ELF\0\0",
                            6));
  EXPECT_EQ(read_file(*view_, {{"path", "binary"}}).text,
            "binary is a binary file of 6 B (6 bytes, application/octet-stream)");
  put("latin", "caf\xe9\n");
  EXPECT_EQ(read_file(*view_, {{"path", "latin"}}).text, "caf\ufffd\n");
}

TEST_F(FileTools, AnImageIsToldByItsBytesAndReadWhole) {
  const std::string bytes("\x89PNG\r\n\x1a\n\0\0", 10);
  put("picture.txt", bytes);
  const ToolOutput image = read_file(*view_, {{"path", "picture.txt"}, {"offset", 3}});
  EXPECT_EQ(image.text, "picture.txt is an image of 10 B (10 bytes, image/png)");
  EXPECT_EQ(image.structured, (Json{{"outcome", "ok"},
                                    {"path", "picture.txt"},
                                    {"size", 10},
                                    {"binary", true},
                                    {"mime_type", "image/png"},
                                    {"data", "iVBORw0KGgoAAA=="}}));
}

// Every tool cuts where it can say how to go on; a client would cut anywhere.
TEST_F(FileTools, AllAnswersFitIntoWhatAModelIsShown) {
  std::string quotes;
  for (int line = 0; line < 1500; ++line) quotes += std::string(40, '"') + "\n";
  put("quotes", quotes);
  const ToolOutput read = read_file(*view_, {{"path", "quotes"}});
  EXPECT_LE(json_characters_of(read.text), kMostShown);
  const std::int64_t next = read.structured["next_offset"];
  EXPECT_GT(next, 500);
  EXPECT_TRUE(read.text.starts_with(quotes.substr(0, static_cast<std::size_t>(next - 1) * 41)));
  const ToolOutput found = search_files(*view_, {{"pattern", "\""}, {"path", "quotes"}});
  EXPECT_LE(json_characters_of(found.text), kMostShown);
  tree_.tree().must("mkdir ws/many");
  for (int file = 0; file < 400; ++file)
    put("many/" + std::string(200, 'n') + std::to_string(file), "");
  const ToolOutput listed = list_files(*view_, {{"path", "many"}});
  EXPECT_LE(json_characters_of(listed.text), kMostShown);
  EXPECT_TRUE(listed.structured["truncated"]);
  EXPECT_THAT(listed.text, HasSubstr("[cut: only the first " + listed.structured["count"].dump() +
                                     " entries are shown]"));
}

TEST_F(FileTools, LinksThatStayInTheViewAreFollowed) {
  EXPECT_EQ(read_file(*view_, {{"path", "good"}}).text, "ordinary\n");
  EXPECT_EQ(read_file(*view_, {{"path", "inside"}}).text, "ordinary\n");
  EXPECT_FALSE(write_file(*view_, {{"path", "good"}, {"content", "new"}}).failed);
  EXPECT_EQ(get("ordinary"), "new");
  EXPECT_EQ(tree_.tree().shell("test -L ws/good"), 0);
}

TEST_F(FileTools, AWriteKeepsTheModeWithoutItsDangerousBits) {
  tree_.tree().must("chmod 4755 ws/ordinary");
  const ToolOutput output = write_file(*view_, {{"path", "ordinary"}, {"content", "abc"}});
  EXPECT_EQ(output.text, "replaced ordinary, 3 bytes");
  EXPECT_EQ(test::mode_of(tree_.ws() + "/ordinary"), 0755U);
  EXPECT_EQ(write_file(*view_, {{"path", "a/b/c"}, {"content", ""}}).text,
            "created a/b/c, 0 bytes");
  EXPECT_EQ(test::mode_of(tree_.ws() + "/a/b/c"), 0644U);
  EXPECT_EQ(test::mode_of(tree_.ws() + "/a/b"), 0755U);
}

TEST_F(FileTools, AWriteThatFailsLeavesNothingBehind) {
  tree_.tree().must(
      "mkdir ws/full && mount -t tmpfs -o size=16k none ws/full && echo old > ws/full/file || "
      "touch no-mount");
  if (test::exists(tree_.tree() / "no-mount")) GTEST_SKIP() << "mounting needs root";
  Result<FileView> host = FileView::of_host(tree_.ws());
  const ToolOutput output =
      write_file(*host, {{"path", "full/file"}, {"content", std::string(200000, 'x')}});
  EXPECT_EQ(output.text, "write \"full/file\": ENOSPC (No space left on device)");
  EXPECT_EQ(get("full/file"), "old\n");
  EXPECT_EQ(tree_.tree().shell("ls -A ws/full | grep -v '^file$'"), 1 << 8);
  tree_.tree().must("umount ws/full");
}

TEST_F(FileTools, AnEditReplacesExactlyWhatIsThere) {
  put("text", "aXbXc");
  EXPECT_THAT(edit({{"path", "text"}, {"old", "X"}, {"new", "-"}}).text,
              HasSubstr("\"old\" is 2 times in \"text\""));
  EXPECT_THAT(edit({{"path", "text"}, {"old", "Y"}, {"new", "-"}}).text,
              HasSubstr("\"old\" is not in \"text\""));
  EXPECT_THAT(edit({{"path", "text"}, {"old", ""}, {"new", "-"}}).text,
              HasSubstr("\"old\" is empty"));
  EXPECT_EQ(get("text"), "aXbXc");
  EXPECT_EQ(edit({{"path", "text"}, {"old", "aX"}, {"new", ""}}).text, "edited text, 1 place");
  EXPECT_EQ(get("text"), "bXc");
  put("text", "XX");
  EXPECT_FALSE(edit({{"path", "text"}, {"old", "X"}, {"new", "XX"}, {"all", true}}).failed);
  EXPECT_EQ(get("text"), "XXXX");
  EXPECT_THAT(edit({{"path", "missing"}, {"old", "X"}, {"new", ""}}).text, HasSubstr("ENOENT"));
  EXPECT_FALSE(test::exists(tree_.ws() + "/missing"));
}

TEST_F(FileTools, AListingLeavesOutWhatIsHidden) {
  tree_.tree().must(
      "cd ws && rm -rf node_modules; rm -f * ; mkdir -p d/e && touch d/e/f d/.dot 'b\n' && touch "
      "hidden");
  const ToolOutput flat = list_files(*view_, Json::object());
  EXPECT_EQ(flat.text, "b\\x0a\nd/\nreadonly/\nsub/\n");
  EXPECT_EQ(flat.structured["hidden"], 2);
  EXPECT_EQ(list_files(*view_, {{"path", "d"}, {"depth", 3}, {"hidden", true}}).text,
            "d/.dot\nd/e/\nd/e/f\n");
  tree_.tree().must("cd ws/sub && seq -f n%g 1100 | xargs touch");
  const ToolOutput cut = list_files(*view_, {{"path", "sub"}});
  EXPECT_EQ(cut.structured["count"], 1000);
  EXPECT_TRUE(cut.structured["truncated"]);
}

TEST_F(FileTools, ASearchFindsLinesAndPassesOverTheRest) {
  put("sub/a.cc", "int Main() {\n  return 1;\n}\n");
  put("sub/b.txt", "no main here\n");
  put("sub/c.cc", std::string("main\0", 5));
  put("huge.cc", std::string(11 << 20, 'm'));
  const ToolOutput all = search_files(*view_, {{"pattern", "main"}, {"ignore_case", true}});
  EXPECT_EQ(all.text,
            "sub/a.cc:1: int Main() {\nsub/b.txt:1: no main here\n"
            "[4 binary, huge or hidden files passed over]\n");
  EXPECT_EQ(
      search_files(
          *view_,
          {{"pattern", "^\\s+return \\d;$"}, {"regex", true}, {"glob", "*.cc"}, {"path", "sub"}})
          .text,
      "sub/a.cc:2:   return 1;\n[1 binary, huge or hidden files passed over]\n");
  EXPECT_EQ(search_files(*view_, {{"pattern", "TOP-SECRET"}}).structured["matches"],
            3);  // hardlink, protected, SOUL.md
  EXPECT_EQ(search_files(*view_, {{"pattern", "a.b"}, {"path", "sub"}}).structured["matches"], 0);
  EXPECT_THAT(search_files(*view_, {{"pattern", "("}, {"regex", true}}).text,
              HasSubstr("\"(\" is not a regular expression"));
  EXPECT_THAT(search_files(*view_, {{"pattern", "x"}, {"glob", "a/b"}}).text, HasSubstr("slash"));
}

TEST_F(FileTools, ASearchLeavesOutWhatIgnoreFilesName) {
  tree_.tree().must(
      "cd ws && mkdir -p p/build p/src/deep p/sub/.git/info p/.git/info && cd p && "
      "printf '*.log\nbuild/\n/src/gen.c\n' > .gitignore && echo '!keep.log' > src/.gitignore && "
      "echo excluded > .git/info/exclude && echo mine > .ignore && echo other > "
      "sub/.git/info/exclude && "
      "for f in a.c a.log build/b.c src/gen.c src/keep.log src/x.log src/deep/gen.c excluded mine "
      "sub/a.log sub/other .git/info/text; do echo needle > $f; done");
  const ToolOutput found = search_files(*view_, {{"pattern", "needle"}, {"path", "p"}});
  EXPECT_EQ(found.text,
            "p/a.c:1: needle\np/src/deep/gen.c:1: needle\np/src/keep.log:1: needle\n"
            "p/sub/a.log:1: needle\n"
            "[7 entries that .gitignore or .ignore name were left out; \"all\" searches them]\n");
  EXPECT_EQ(found.structured["ignored"], 7);
  // Rules above the directory that is searched hold too; a file that is named is searched.
  EXPECT_EQ(search_files(*view_, {{"pattern", "needle"}, {"path", "p/src"}}).structured["matches"],
            2);
  EXPECT_EQ(
      search_files(*view_, {{"pattern", "needle"}, {"path", "p/a.log"}}).structured["matches"], 1);
  const ToolOutput all =
      search_files(*view_, {{"pattern", "needle"}, {"path", "p"}, {"all", true}});
  EXPECT_EQ(all.structured["matches"], 11);
  EXPECT_EQ(all.structured["ignored"], 0);
}

// Files of one directory and of many, searched by several threads, with more matches than are shown.
TEST_F(FileTools, ASearchGivesTheSameEachTime) {
  tree_.tree().must(
      "cd ws && mkdir -p many && cd many && for d in a b c d e f g h; do mkdir -p $d/x; for n in "
      "$(seq 40); do echo \"needle $d $n\" > $d/$n.txt; echo \"needle\" > $d/x/$n.txt; done; done; "
      "for n in $(seq 300); do echo other > $n.txt; done; echo needle > z.txt");
  const Json request{{"pattern", "needle"}, {"path", "many"}};
  const ToolOutput first = search_files(*view_, request);
  EXPECT_EQ(first.structured["matches"], 200);
  EXPECT_THAT(first.text, HasSubstr("only the first 200 matching lines"));
  EXPECT_THAT(first.text, ::testing::StartsWith("many/a/1.txt:1: needle a 1\nmany/a/10.txt:1:"));
  for (int round = 0; round < 20; ++round) {
    const ToolOutput again = search_files(*view_, request);
    EXPECT_EQ(again.text, first.text);
    EXPECT_EQ(again.structured, first.structured);
  }
  const ToolOutput few = search_files(*view_, {{"pattern", "needle e 1"}, {"path", "many"}});
  EXPECT_EQ(few.structured["matches"], 11);
  EXPECT_EQ(few.structured["files"], 941);
}

TEST_F(FileTools, ASearchOpensNoFifoAndFollowsNoLink) {
  tree_.tree().must(
      "cd ws && mkdir odd && mkfifo odd/fifo && ln -s /etc/passwd odd/link && ln -s .. odd/up && "
      "echo needle > odd/file");
  const ToolOutput found = search_files(*view_, {{"pattern", "n"}, {"path", "odd"}});
  EXPECT_EQ(found.text, "odd/file:1: needle\n");
}

TEST_F(FileTools, AFileIsSentFromTheWorkspaceOnly) {
  put("hello.txt", "hello");
  EXPECT_EQ(send_file(*view_, {{"path", "hello.txt"}}).structured,
            (Json{{"outcome", "ok"},
                  {"name", "hello.txt"},
                  {"size", 5},
                  {"mime_type", "text/plain"},
                  {"data", "aGVsbG8="}}));
  EXPECT_THAT(send_file(*view_, {{"path", "/usr/bin/env"}}).text,
              HasSubstr("is not in the workspace"));
  EXPECT_FALSE(read_file(*view_, {{"path", "/usr/bin/env"}}).failed);  // control: it can be read
  EXPECT_THAT(send_file(*view_, {{"path", "sub"}}).text, HasSubstr("is a directory"));
  tree_.tree().must("truncate -s 26214401 ws/big");
  EXPECT_THAT(send_file(*view_, {{"path", "big"}}).text, HasSubstr("over 25 MB"));
}

TEST_F(FileTools, TheOwnerSeesTheMachineButIdentityFilesStay) {
  Result<FileView> host = FileView::of_host(tree_.ws());
  ASSERT_TRUE(host.has_value());
  EXPECT_EQ(read_file(*host, {{"path", "../outside/secret"}}).text, test::kSecret + "\n");
  EXPECT_FALSE(write_file(*host, {{"path", ".envrc"}, {"content", "x"}}).failed);
  EXPECT_THAT(write_file(*host, {{"path", "soul.md"}, {"content", "x"}}).text,
              HasSubstr("identity file"));
  EXPECT_TRUE(read_file(*host, {{"path", "fifo"}}).failed);
}

}  // namespace
}  // namespace coop::tools
