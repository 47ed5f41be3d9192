#include "policy/credentials.h"

#include <gtest/gtest.h>

namespace coop::policy {
namespace {

TEST(CredentialsTest, WordsAndUrlsWithAUserCount) {
  for (const char* text :
       {"[remote \"origin\"]\n\turl = https://ghp_x@github.com/a/b.git\n",
        "url = https://user:pw@example.com/simple",
        "[http]\n\textraHeader = AUTHORIZATION: basic eA", "//registry.example/:_authToken=npm_x",
        "systemProp.http.proxyPassword=x", "<server><password>x</password></server>", "apiKey: x",
        "nexusPwd=x", "http.cookieFile = x", "export API_TOKEN=1",
        "https://www.example.com/F/feed/0123456789abcdef0123456789abcdef/v3",
        "# comment\ntoken = x", "<!-- open\n<password>x</password>"})
    EXPECT_TRUE(holds_credentials(text)) << text;
}

// As tools are shipped: without these, Maven and Flutter would not start in the host view.
TEST(CredentialsTest, CommentsAndPlainAddressesDoNot) {
  for (const char* text :
       {"",
        "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://github.com/a/b.git\n"
        "\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"master\"]\n\tremote = origin\n",
        "<settings>\n<!--<server>\n<password>example</password>\n--><mirrors><mirror><id>"
        "maven-default-http-blocker</id><url>http://0.0.0.0/</url></mirror></mirrors></settings>",
        "# password = x\n; token = y\n[global]\nindex-url = https://mirror.example/simple\n"})
    EXPECT_FALSE(holds_credentials(text)) << text;
}

}  // namespace
}  // namespace coop::policy
