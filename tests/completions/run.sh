#!/usr/bin/env bash
# usage: run.sh COOP    loads the completions of each shell, and completes a few words with them
set -euo pipefail
coop=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work XDG_CACHE_HOME=$work TERM=dumb
cd "$work"
PATH=$(dirname "$coop"):$PATH
# Kept homes and a run's quarantine: one whose name a shell would take for more than a word is left out.
# shellcheck disable=SC2016 # that is its name
mkdir -p "$work"/.local/state/coop/homes/{claude-x-1a2b,other.home,'$(touch${IFS}bad)'}/home
chmod -R go-w "$work/.local"
fail() { echo "completions: $*" >&2; exit 1; }
for shell in bash zsh fish; do
  command -v "$shell" >/dev/null || fail "$shell is not installed"
  "$coop" completion "$shell" >"$work/coop.$shell"
done

# What a shell says, an error above all. $1: the shell, the rest: a word that must be offered, the line to complete.
expect() {
  local shell=$1 word=$2 line=$3 out
  out=$("complete_$shell" "$line" 2>"$work/errors") || fail "$shell: $line: exit $?: $(cat "$work/errors")"
  [[ ! -s $work/errors ]] || fail "$shell: $line: $(cat "$work/errors")"
  grep -qE -- "(^|[[:space:]])$word([[:space:]]|\$)" <<<"$out" || fail "$shell: $line: no $word in: $out"
}

# The same of a word that must not be offered.
refuse() {
  local shell=$1 word=$2 line=$3 out
  out=$("complete_$shell" "$line" 2>"$work/errors") || true
  ! grep -qE -- "(^|[[:space:]])$word([[:space:]]|\$)" <<<"$out" || fail "$shell: $line: $word in: $out"
}

complete_bash() {
  bash --norc -c 'source "$1/coop.bash"; read -ra COMP_WORDS <<<"$2"; [[ $2 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _coop; printf "%s\n" "${COMPREPLY[@]}"' bash "$work" "$1"
}

complete_fish() {
  # shellcheck disable=SC2016 # fish expands it
  fish --no-config -c 'source $argv[1]/coop.fish; complete -C $argv[2]' "$work" "$1"
}

# zsh completes only in its line editor: a terminal of its own, into which a Tab is typed.
complete_zsh() {
  mkdir -p "$work/functions"
  cp "$work/coop.zsh" "$work/functions/_coop"
  zsh -f -c 'zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "PS1=; fpath=($1/functions \$fpath); autoload -Uz compinit; compinit -D -u; zstyle \":completion:*\" list-prompt \"\"; LISTMAX=0; setopt no_list_beep no_always_last_prompt; stty cols 200 rows 500; print ready-\$((1+1))"
    zpty -r -m shell line "*ready-2*"
    zpty -w -n shell "$2"$'"'\\t\\t'"'
    out=
    for i in {1..50}; do
      sleep 0.1
      zpty -r -t shell part && out+=$part && continue
      (( i > 15 )) && break
    done
    print -r -- "$out"
    zpty -d shell' zsh "$work" "$1"
}

for shell in bash fish; do
  expect "$shell" run "coop "
  expect "$shell" --allow-net "coop run --allow-n"
  expect "$shell" host "coop run --view "
  expect "$shell" cargo "coop run --cache "
  expect "$shell" @github "coop run --allow-net @gith"
  expect "$shell" .git/config "coop run --allow-guarded .git/c"
  expect "$shell" check "coop policy "
  expect "$shell" claude-x-1a2b "coop home rm "
  expect "$shell" other.home "coop home path o"
  expect "$shell" claude-x-1a2b "coop run --home cl"
  expect "$shell" ephemeral "coop run --home "
  expect "$shell" policy "coop man "
  refuse "$shell" ls "coop home rm "
  refuse "$shell" coop.zsh "coop quarantine restore "
  expect "$shell" coop.zsh "coop quarantine restore zdyupr4s "
done
[[ ! -e bad ]] || fail "the name of a home was run as a command"
refuse bash --help "coop home rm "
refuse bash --json "coop status --json "
# As bash takes the words of "--preset=cl" and "--allow-net=@gith" apart.
expect bash claude "coop run --preset = cl"
expect bash claude "coop run --preset ="
expect bash @github "coop run --allow-net = @ gith"
expect bash @github "coop run --allow-net =@ gith"
grep -q "agent's login" "$work/coop.zsh" && fail "zsh: an apostrophe ends the text"
for shell in zsh fish; do
  grep -qE "the agent('\\\\'|\\\\)'s login" "$work/coop.$shell" || fail "$shell: no apostrophe in a help text"
done
expect fish --preset=claude "coop run --preset=cl"

# zsh: the file is sound, defines the function when it is sourced, and completes.
zsh -f -n "$work/coop.zsh" 2>"$work/errors" || fail "zsh: $(cat "$work/errors")"
zsh -f -c 'autoload -Uz compinit; compinit -D -u; source "$1"; print -r -- $_comps[coop]' zsh "$work/coop.zsh" \
  >"$work/out" 2>"$work/errors" || fail "zsh: $(cat "$work/errors")"
[[ ! -s $work/errors ]] || fail "zsh: $(cat "$work/errors")"
[[ $(cat "$work/out") == _coop ]] || fail "zsh: coop is not completed by _coop"
complete_zsh "coop run --allow-n" >"$work/out" 2>"$work/errors"
grep -q -- '--allow-net' "$work/out" || fail "zsh: no --allow-net in: $(cat "$work/out" "$work/errors")"
complete_zsh "coop home rm cla" >"$work/out2" 2>"$work/errors"
grep -q 'claude-x-1a2b' "$work/out2" || fail "zsh: no kept home in: $(cat "$work/out2" "$work/errors")"
complete_zsh "coop run --preset=clau" >"$work/out2" 2>"$work/errors"
grep -q 'preset=claude' "$work/out2" || fail "zsh: no preset in: $(cat "$work/out2" "$work/errors")"
grep -qiE 'error|not found|bad |invalid' "$work/out" && fail "zsh: $(cat "$work/out")"
echo "completions: bash, fish and zsh load and complete"
