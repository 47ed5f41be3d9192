// From a plan to the child's instructions, and from a command to the arguments of execve.
#include "run/start/freeze.h"

#include <gtest/gtest.h>
#include <linux/mount.h>

#include <cstring>

#include "plan/seccomp/profile.h"
#include "unit/support/plan_facts.h"

namespace coop::run {
namespace {

using child::Instruction;
using child::Operation;

Plan plan_of(std::vector<Action> actions) {
  Plan plan;
  for (Action& action : actions) plan.steps.push_back(Step{std::move(action)});
  plan.environment = {{"PATH", "/usr/bin::/bin"}, {"HOME", "/work"}};
  plan.directory = "/work";
  return plan;
}

// A frozen plan with the memory it lies in.
struct Frozen {
  Region region;
  std::span<const child::Instruction> instructions;
};

Frozen frozen_of(const Plan& plan, const FreezeOptions& options) {
  Frozen frozen{*Region::make(), {}};
  frozen.instructions = *freeze(plan, options, frozen.region);
  return frozen;
}

std::vector<Operation> operations(const Frozen& frozen) {
  std::vector<Operation> result;
  for (const Instruction& instruction : frozen.instructions)
    result.push_back(instruction.operation);
  return result;
}

std::string text(const char* pointer) { return pointer == nullptr ? "(none)" : pointer; }

TEST(FreezeTest, EveryInstructionKnowsItsStep) {
  const Plan plan = plan_of({MapIds{1000, 100, 0, 0}, SetHostname{"box"}, RootTmpfs{}});
  const Frozen frozen = frozen_of(plan, {});
  EXPECT_EQ(operations(frozen),
            (std::vector{Operation::set_dumpable, Operation::write_file, Operation::write_file,
                         Operation::write_file, Operation::set_dumpable, Operation::set_hostname,
                         Operation::root_tmpfs}));
  std::vector<int> steps;
  for (const Instruction& instruction : frozen.instructions) steps.push_back(instruction.step);
  EXPECT_EQ(steps, (std::vector{0, 0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(text(frozen.instructions[1].text), "deny");
  EXPECT_EQ(text(frozen.instructions[2].text), "0 100 1\n");
  EXPECT_EQ(text(frozen.instructions[3].text), "0 1000 1\n");
  EXPECT_EQ(frozen.instructions[4].first, 0u);  // not readable from inside any more
}

TEST(FreezeTest, MountAttributesAreTightUnlessAsked) {
  const auto bits = [](const MountFlags& flags) {
    return frozen_of(plan_of({BindMount{"/a", "/b", flags}}), {}).instructions[0].first;
  };
  EXPECT_EQ(bits({}), std::uint64_t{MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY});
  EXPECT_EQ(bits({.access = Access::read_write}),
            std::uint64_t{MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV});
  EXPECT_EQ(bits({.access = Access::read_write, .exec = false, .devices = true}),
            std::uint64_t{MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC});
}

TEST(FreezeTest, PathsInsideAreRelativeToTheNewRoot) {
  const Frozen frozen =
      frozen_of(plan_of({BindMount{"/host/a", "/b/c"}, Seal{"/"}, Seal{"/b"}}), {});
  EXPECT_EQ(text(frozen.instructions[0].path), "/host/a");
  EXPECT_EQ(text(frozen.instructions[0].text), "b/c");
  EXPECT_EQ(text(frozen.instructions[1].path), ".");
  EXPECT_EQ(text(frozen.instructions[2].path), "b");
}

TEST(FreezeTest, TmpfsIsLimitedInBytesAndFiles) {
  const Frozen frozen = frozen_of(
      plan_of({TmpfsMount{.target = "/t", .size = 4096, .inodes = 8, .mode = 01777}}), {});
  const Instruction& mount = frozen.instructions[0];
  EXPECT_EQ(text(mount.text), "tmpfs");
  const std::string_view expected("size=4096\0nr_inodes=8\0mode=1777\0", 32);
  EXPECT_EQ(std::string_view(static_cast<const char*>(mount.data), expected.size() + 1),
            std::string(expected) + '\0');
}

TEST(FreezeTest, MasksAreStagedOnceAndOnlyWhenSomethingIsHidden) {
  const Frozen with =
      frozen_of(plan_of({RootHost{}, HideMount{"/a"}, HideMount{"/b", PathKind::file}}), {});
  EXPECT_EQ(operations(with),
            (std::vector{Operation::root_host, Operation::stage_masks, Operation::seal_masks,
                         Operation::hide_directory, Operation::hide_file}));
  EXPECT_EQ(operations(frozen_of(plan_of({RootHost{}}), {})), std::vector{Operation::root_host});
}

TEST(FreezeTest, ATerminalIsOpenedInTheNewRootAndGroupsAreJoinedFirst) {
  const Frozen frozen =
      frozen_of(plan_of({EnterRoot{}, DropCapabilities{}}),
                {.terminal = TerminalSize{50, 132}, .groups = {"/cg/tasks"}, .await_scope = true});
  EXPECT_EQ(operations(frozen),
            (std::vector{Operation::write_file, Operation::await_parent, Operation::enter_root,
                         Operation::open_terminal, Operation::drop_capabilities}));
  EXPECT_EQ(text(frozen.instructions[0].path), "/cg/tasks");
  EXPECT_EQ(text(frozen.instructions[0].text), "0");
  EXPECT_EQ(frozen.instructions[0].step, child::kGroupStep);
  EXPECT_EQ(frozen.instructions[3].first, 50u);
  EXPECT_EQ(frozen.instructions[3].second, 132u);
}

TEST(FreezeTest, LandlockAttributeHasTheSizeItsAbiKnows) {
  for (const auto& [abi, size] :
       {std::pair{2, 8u}, {3, 8u}, {4, 16u}, {5, 16u}, {6, 24u}, {7, 24u}}) {
    const Frozen frozen =
        frozen_of(plan_of({RestrictLandlock{.abi = abi, .handled = 5, .rules = {{"/x", 4}}}}), {});
    EXPECT_EQ(operations(frozen),
              (std::vector{Operation::landlock_create, Operation::landlock_allow,
                           Operation::landlock_restrict}));
    EXPECT_EQ(frozen.instructions[0].third, size) << abi;
    EXPECT_EQ(text(frozen.instructions[1].path), "/x");
  }
}

TEST(FreezeTest, AnUnknownFilterIsAnEmptyOneWhichTheKernelRefuses) {
  const Frozen unknown = frozen_of(plan_of({InstallSeccomp{"no such profile"}}), {});
  EXPECT_EQ(unknown.instructions[0].data, nullptr);
  EXPECT_EQ(unknown.instructions[0].first, 0u);
  const Frozen known = frozen_of(plan_of({InstallSeccomp{"default"}}), {});
  EXPECT_EQ(known.instructions[0].first, seccomp::find("default")->program.size());
}

TEST(FreezeTest, EveryPlanBecomesOneListWithEveryStepInIt) {
  HostFacts host = plan::anns_machine();
  plan::add_path(host, "/home/ann/.ssh");
  for (const View view : {View::minimal, View::host}) {
    Policy policy = plan::policy_for(view);
    policy.rules = {plan::rule(RuleKind::hide, "/home/ann/.ssh")};
    policy.time_offset = 5;
    policy.limits.open_files.reset();  // the command's own, not a step of init's
    const Plan plan = plan::must_compile(policy, host);
    const Frozen frozen = frozen_of(plan, {});
    std::size_t step = 0;
    for (const Instruction& instruction : frozen.instructions) {
      EXPECT_TRUE(instruction.step == step || instruction.step == step + 1) << instruction.step;
      step = instruction.step;
    }
    EXPECT_EQ(step + 1, plan.steps.size());
  }
}

TEST(InvocationTest, NamesAreLookedUpOnThePathInsideAndNeverInTheWorkingDirectory) {
  const Invocation found = invocation_for(plan_of({}), Command{.arguments = {"make", "all"}});
  EXPECT_EQ(found.candidates, (std::vector<std::string>{"/usr/bin/make", "/bin/make"}));
  EXPECT_EQ(found.arguments, (std::vector<std::string>{"make", "all"}));
  EXPECT_EQ(found.environment,
            (std::vector<std::string>{"HOME=/work", "PATH=/usr/bin::/bin", "PWD=/work"}));
  EXPECT_EQ(found.directory, "/work");
}

TEST(InvocationTest, APathIsTakenAsItIs) {
  EXPECT_EQ(invocation_for(plan_of({}), Command{.arguments = {"./run.sh"}}).candidates,
            std::vector<std::string>{"./run.sh"});
  EXPECT_EQ(invocation_for(plan_of({}), Command{.arguments = {""}}).candidates,
            std::vector<std::string>{});
}

TEST(InvocationTest, TheCommandsOwnWishesComeLast) {
  const Command command{
      .arguments = {"x"}, .environment = {{"PATH", "/opt"}, {"A", "1"}}, .directory = "/tmp"};
  const Invocation found = invocation_for(plan_of({}), command);
  EXPECT_EQ(found.candidates, std::vector<std::string>{"/opt/x"});
  EXPECT_EQ(found.environment,
            (std::vector<std::string>{"A=1", "HOME=/work", "PATH=/opt", "PWD=/tmp"}));
  EXPECT_EQ(found.directory, "/tmp");
}

TEST(FreezeTest, TheSecondPartKeepsTheNumbersOfThePlan) {
  const Plan plan = plan_of({SetHostname{"box"}, RootTmpfs{}, EnterRoot{}});
  const Frozen rest = frozen_of(plan, {.first_step = 1});
  EXPECT_EQ(operations(rest), (std::vector{Operation::root_tmpfs, Operation::enter_root}));
  EXPECT_EQ(rest.instructions[0].step, 1);
  EXPECT_EQ(rest.instructions[1].step, 2);
}

TEST(RegionTest, ACommandLargerThanExecveTakesIsAnErrorAndNoOverflow) {
  Region region = *Region::make();
  const std::string large(std::size_t{12} << 20, 'x');
  EXPECT_TRUE(freeze_list({large}, region).has_value());
  const Result<const char* const*> second = freeze_list({large}, region);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().errno_value, E2BIG);
  EXPECT_TRUE(freeze_list({"small"}, region).has_value());  // what is left still serves
}

}  // namespace
}  // namespace coop::run
