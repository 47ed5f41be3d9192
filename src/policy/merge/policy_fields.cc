#include "policy/merge/policy_fields.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/quantity.h"
#include "policy/policy.h"

namespace coop::policy {

namespace {

using std::chrono::milliseconds;

std::int64_t seconds_of(const std::string& text) { return parse_signed(text).value_or(0); }

Scalar scalar_of(std::uint64_t number) { return number; }
Scalar scalar_of(milliseconds time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
}

void assign(std::uint64_t& field, std::uint64_t number) { field = number; }
void assign(milliseconds& field, std::uint64_t number) {
  constexpr auto kLongest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  field = milliseconds(static_cast<std::int64_t>(std::min(number, kLongest)));
}

template <std::uint64_t Limits::* member>
constexpr PolicyField limit(Key key) {
  return {key, [](const Policy& policy) -> Scalar { return policy.limits.*member; },
          [](Policy& policy, const Scalar& value) {
            if (const auto* number = std::get_if<std::uint64_t>(&value))
              policy.limits.*member = *number;
          }};
}

// Without a value there is no limit.
template <auto member>
constexpr PolicyField optional_limit(Key key) {
  return {key,
          [](const Policy& policy) {
            const auto& field = policy.limits.*member;
            return field ? scalar_of(*field) : Unlimited{};
          },
          [](Policy& policy, const Scalar& value) {
            auto& field = policy.limits.*member;
            if (std::holds_alternative<Unlimited>(value)) field.reset();
            if (const auto* number = std::get_if<std::uint64_t>(&value))
              assign(field.emplace(), *number);
          }};
}

template <Mechanism mechanism>
constexpr PolicyField need(Key key) {
  return {
      key,
      [](const Policy& policy) -> Scalar {
        return std::string(policy.need(mechanism) == Need::required ? "required" : "best_effort");
      },
      [](Policy& policy, const Scalar& value) {
        policy.needs[mechanism] =
            value == Scalar("best_effort") ? Need::best_effort : Need::required;
      }};
}

constexpr std::array kFields{
    PolicyField{Key::view,
                [](const Policy& policy) -> Scalar { return std::string(to_text(policy.view)); },
                [](Policy& policy, const Scalar& value) {
                  policy.view = value == Scalar("host") ? View::host : View::minimal;
                }},
    PolicyField{Key::home, [](const Policy& policy) -> Scalar { return to_text(policy.home); },
                [](Policy& policy, const Scalar& value) {
                  if (const auto* word = std::get_if<std::string>(&value))
                    policy.home = home_of(*word);
                }},
    PolicyField{Key::show_home,
                [](const Policy& policy) -> Scalar { return policy.home_view == HomeView::shown; },
                [](Policy& policy, const Scalar& value) {
                  policy.home_view = value == Scalar(true) ? HomeView::shown : HomeView::listed;
                }},
    PolicyField{Key::hide_secrets,
                [](const Policy& policy) -> Scalar {
                  return policy.workspace_secrets == WorkspaceSecrets::hidden;
                },
                [](Policy& policy, const Scalar& value) {
                  policy.workspace_secrets =
                      value == Scalar(true) ? WorkspaceSecrets::hidden : WorkspaceSecrets::shown;
                }},
    PolicyField{Key::network_mptcp,
                [](const Policy& policy) -> Scalar { return policy.mptcp == Mptcp::allowed; },
                [](Policy& policy, const Scalar& value) {
                  policy.mptcp = value == Scalar(true) ? Mptcp::allowed : Mptcp::refused;
                }},
    PolicyField{
        Key::debug,
        [](const Policy& policy) -> Scalar { return policy.debugging == Debugging::allowed; },
        [](Policy& policy, const Scalar& value) {
          policy.debugging = value == Scalar(true) ? Debugging::allowed : Debugging::denied;
        }},
    PolicyField{Key::as_root,
                [](const Policy& policy) -> Scalar { return policy.identity == Identity::root; },
                [](Policy& policy, const Scalar& value) {
                  policy.identity = value == Scalar(true) ? Identity::root : Identity::self;
                }},
    PolicyField{Key::hostname, [](const Policy& policy) -> Scalar { return policy.hostname; },
                [](Policy& policy, const Scalar& value) {
                  if (const auto* name = std::get_if<std::string>(&value)) policy.hostname = *name;
                }},
    PolicyField{Key::time_offset,
                [](const Policy& policy) -> Scalar {
                  return std::to_string(policy.time_offset.value_or(0));
                },
                [](Policy& policy, const Scalar& value) {
                  const auto* text = std::get_if<std::string>(&value);
                  const std::int64_t seconds = text == nullptr ? 0 : seconds_of(*text);
                  policy.time_offset = seconds == 0 ? std::nullopt : std::optional(seconds);
                }},
    PolicyField{Key::terminal,
                [](const Policy& policy) -> Scalar {
                  return std::string(policy.terminal == TerminalOutput::raw ? "raw" : "filtered");
                },
                [](Policy& policy, const Scalar& value) {
                  policy.terminal =
                      value == Scalar("raw") ? TerminalOutput::raw : TerminalOutput::filtered;
                }},
    optional_limit<&Limits::memory>(Key::memory),
    optional_limit<&Limits::open_files>(Key::open_files),
    optional_limit<&Limits::file_size>(Key::file_size),
    optional_limit<&Limits::pids>(Key::pids_limit),
    optional_limit<&Limits::milli_cpus>(Key::cpus),
    optional_limit<&Limits::timeout>(Key::timeout),
    limit<&Limits::tmp_size>(Key::tmp_size),
    limit<&Limits::output_limit>(Key::output_limit),
    need<Mechanism::landlock>(Key::landlock),
    need<Mechanism::proc>(Key::proc),
    need<Mechanism::limits>(Key::limits),
};

}  // namespace

std::span<const PolicyField> policy_fields() { return kFields; }

}  // namespace coop::policy
