#!/bin/bash
# file_tools.sh, in a guest: attacks on the file tools, whose look-up below a sandbox's root is the kernel's (openat2), and what
# the tools see through it. As root and as an ordinary user. Some of these tests race for a second or more.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=checks.sh
. "$here/checks.sh"

tests=$(dirname "$COOP_BINARY")/../tests/coop_tools_tests
export COOP_TESTS_MUST_RUN=1

for suite in FileAttack FileViews; do
  check "$suite as root" "$tests" --gtest_filter="$suite.*" --gtest_brief=1
  check "$suite as an ordinary user" as_tester "$tests" --gtest_filter="$suite.*" --gtest_brief=1
done
finish
