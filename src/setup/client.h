// Clients of `coop mcp`: which settings make them use coop's tools in place of their own, as data in policies/clients/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/settings/findings.h"
#include "setup/edit.h"

namespace coop::setup {

// What setup makes of a client.
enum class Way : std::uint8_t {
  tools,  // coop's tools, and its own are off
  shell,  // its own tools, and its shell's commands run in a sandbox
};
std::string_view to_text(Way way);

struct ClientFile {
  std::string name{};
  std::string path{};      // below the home
  std::string instead{};   // its name where only a file of this name is there
  std::string moved_by{};  // a variable with the directory that counts instead of …
  std::string moved{};     // … which part of `path`: "" all but the last name
  Format format = Format::json;
  bool operator==(const ClientFile&) const = default;
};

struct ClientChange {
  Way way = Way::tools;
  std::string file{};  // name of a ClientFile
  Change change{};
  bool operator==(const ClientChange&) const = default;
};

// A setting that the user may have, and with which a change would not do what it is for.
struct Concern {
  std::string file{};               // name of a ClientFile, in TOML
  std::vector<std::string> path{};  // "*" is any name
  Json unless{};                    // the value that is as it should be; null: none is
  std::string text{};               // what it does
  bool operator==(const Concern&) const = default;
};

struct Client {
  std::string name{};
  std::string title{};
  std::vector<std::string> commands{};  // names of its program
  std::vector<std::string> traces{};    // below the home: what it leaves there
  std::string measured{};               // the version that was tried; empty: none
  std::string no_shell{};               // why it has no Way::shell; empty: it has
  std::vector<std::string> notes{};     // what stays possible, with Way::tools
  std::vector<std::string> shell_notes{};
  std::vector<ClientFile> files{};
  std::vector<ClientChange> changes{};
  std::vector<Concern> concerns{};
  bool operator==(const Client&) const = default;
};

struct ShippedClient {
  std::string_view name;
  std::string_view text;
};

// Sorted by name.
std::span<const ShippedClient> shipped_clients();
const ShippedClient* find_client(std::string_view name);  // null for an unknown name
std::vector<std::string_view> client_names();

// With `program`, the path of coop, in the values. Mistakes become findings.
Client read_client(const ShippedClient& shipped, std::string_view program,
                   policy::Findings& findings);

// What the text of one of its files has of its concerns.
struct FoundConcern {
  std::size_t line = 0;  // from 1
  std::string text{};    // "profiles.x.features.shell_tool: with this profile …"
  bool operator==(const FoundConcern&) const = default;
};
std::vector<FoundConcern> find_concerns(const Client& client, std::string_view file,
                                        std::string_view text);

// One word for a shell of POSIX.
std::string shell_quoted(std::string_view word);

}  // namespace coop::setup
