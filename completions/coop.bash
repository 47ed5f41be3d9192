# bash completion for coop; made by `coop completion bash`
_coop() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} index
  for ((index = 1; index < COMP_CWORD; ++index)); do
    if [[ ${COMP_WORDS[index]} == -- ]]; then
      if ((index + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- "$current"));
      else COMPREPLY=($(compgen -f -- "$current")); fi
      return
    fi
  done
  case $previous in
    coop) COMPREPLY=($(compgen -W 'run plan policy trust config tool mcp status completion man --help --version' -- "$current")); return ;;
    completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- "$current")); return ;;
    status) COMPREPLY=($(compgen -W '--json --help' -- "$current")); return ;;
    policy) COMPREPLY=($(compgen -W 'show check explain diff export import approve schema --help' -- "$current")); return ;;
    config) COMPREPLY=($(compgen -W 'check --help' -- "$current")); return ;;
    --scope) COMPREPLY=($(compgen -W 'organisation user project effective' -- "$current")); return ;;
  esac
  case ${COMP_WORDS[1]} in
    policy) COMPREPLY=($(compgen -f -W '--origin --json --scope --dry-run --yes --revoke --workspace' -- "$current")); return ;;
    trust) COMPREPLY=($(compgen -W '--group --json --config --agent --as --cron terminal:default' -- "$current")); return ;;
    config) COMPREPLY=($(compgen -f -W '--json' -- "$current")); return ;;
    tool) COMPREPLY=($(compgen -W 'bash exec read_file write_file edit_file list_files search_files send_file fetch_url --list --json --as --channel --group --config --workspace' -- "$current")); return ;;
    mcp) COMPREPLY=($(compgen -f -W '--as --channel --group --config --workspace --on-leak --http --token-file --verbose' -- "$current")); return ;;
  esac
  case $previous in
    --workspace) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --view) COMPREPLY=($(compgen -W 'minimal host' -- "$current")); return ;;
    --rw) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --ro) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --hide) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --overlay) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --tmpfs) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --cache) COMPREPLY=($(compgen -W 'bazel bun cargo ccache composer deno go gradle huggingface maven npm nuget pip pnpm poetry sccache uv yarn' -- "$current")); return ;;
    --allow-guarded) COMPREPLY=($(compgen -W '.circleci .claude/settings.json .claude/settings.local.json .coop .cursor .envrc .git .git/config .git/config.worktree .git/hooks .git/info/attributes .github/workflows .gitlab-ci.yml .husky .idea .mcp.json .pre-commit-config.yaml .travis.yml .vscode Jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml coop.toml' -- "$current")); return ;;
    --network) COMPREPLY=($(compgen -W 'none allowlist full veth host' -- "$current")); return ;;
    --socket) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --unsafe) COMPREPLY=($(compgen -W 'host_network control_sockets' -- "$current")); return ;;
    --require) COMPREPLY=($(compgen -W 'landlock proc limits' -- "$current")); return ;;
    --best-effort) COMPREPLY=($(compgen -W 'landlock proc limits' -- "$current")); return ;;
    --config) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --log-format) COMPREPLY=($(compgen -W 'text json' -- "$current")); return ;;
  esac
  COMPREPLY=($(compgen -W '--workspace --view --rw --ro --hide --overlay --tmpfs --cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-net --deny-net --allow-udp --publish --host-port --socket --unsafe --memory --pids --cpus --tmp-size --open-files --file-size --timeout --output-limit --require --best-effort --config --as --channel --group --agent --cron --verbose --log-format --quiet --tty --no-tty --json --why --help --' -- "$current"))
}
complete -o filenames -F _coop coop
