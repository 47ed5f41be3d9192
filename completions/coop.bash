# bash completion for coop; made by `coop completion bash`
_coop() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} index
  local command=${COMP_WORDS[1]}
  for ((index = 1; index < COMP_CWORD; ++index)); do
    if [[ ${COMP_WORDS[index]} == -- ]]; then
      if ((index + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- "$current"));
      else COMPREPLY=($(compgen -f -- "$current")); fi
      return
    fi
  done
  _coop_words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
  if ((COMP_CWORD == 1)); then _coop_words 'run plan policy trust config tool mcp status completion man --help --version'; return; fi
  if ((COMP_CWORD > 2)); then case $command in
    policy|config) command+=" ${COMP_WORDS[2]}" ;;
  esac; fi
  case $previous in
    --blacklist|--config|--hide|--overlay|--ro|--rw|--socket|--tmpfs|--token-file|--workspace|-w) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --allow-guarded) _coop_words '.circleci .claude/settings.json .claude/settings.local.json .coop .cursor .envrc .git .git/config .git/config.worktree .git/hooks .git/info/attributes .github/workflows .gitlab-ci.yml .husky .idea .mcp.json .pre-commit-config.yaml .travis.yml .vscode Jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml coop.toml ~/.aws ~/.bash_aliases ~/.bash_login ~/.bash_logout ~/.bash_profile ~/.bashrc ~/.cargo/bin ~/.cargo/config.toml ~/.claude ~/.claude.json ~/.codex ~/.config/Code/User ~/.config/autostart ~/.config/direnv ~/.config/emacs ~/.config/environment.d ~/.config/fish ~/.config/git ~/.config/hypr ~/.config/i3 ~/.config/mise ~/.config/nvim ~/.config/opencode ~/.config/pip ~/.config/plasma-workspace ~/.config/sway ~/.config/systemd/user ~/.config/tmux ~/.cshrc ~/.cursor ~/.docker ~/.emacs ~/.emacs.d ~/.forward ~/.gdbinit ~/.gemini ~/.gitconfig ~/.gnupg ~/.hgrc ~/.inputrc ~/.kube ~/.lldbinit ~/.local/bin ~/.local/lib ~/.local/share/applications ~/.local/share/dbus-1 ~/.local/share/systemd/user ~/.login ~/.mailcap ~/.npmrc ~/.oh-my-zsh ~/.pam_environment ~/.procmailrc ~/.profile ~/.screenrc ~/.ssh ~/.tcshrc ~/.tmux.conf ~/.vim ~/.vimrc ~/.xinitrc ~/.xprofile ~/.xsession ~/.xsessionrc ~/.zlogin ~/.zlogout ~/.zprofile ~/.zshenv ~/.zshrc ~/bin'; return ;;
    --best-effort) _coop_words 'landlock limits proc'; return ;;
    --cache) _coop_words 'bazel bun cargo ccache composer deno go gradle huggingface maven npm nuget pip pnpm poetry sccache uv yarn'; return ;;
    --log-format) _coop_words 'json text'; return ;;
    --network) _coop_words 'allowlist full host none veth'; return ;;
    --on-leak) _coop_words 'block redact terminate'; return ;;
    --require) _coop_words 'landlock limits proc'; return ;;
    --scope) _coop_words 'effective organisation project user'; return ;;
    --terminal) _coop_words 'filtered raw'; return ;;
    --unsafe) _coop_words 'control_sockets host_network'; return ;;
    --view) _coop_words 'host minimal'; return ;;
  esac
  case $command in
    policy) _coop_words 'show check explain diff export import approve schema --help' ;;
    config) _coop_words 'check --help' ;;
    'run') _coop_words '--workspace --view --rw --ro --hide --overlay --tmpfs --cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-net --deny-net --allow-udp --publish --host-port --socket --unsafe --terminal --memory --pids --cpus --tmp-size --open-files --file-size --timeout --output-limit --require --best-effort --config --as --channel --group --agent --cron --verbose --log-format --quiet --tty --no-tty --json --why --help --' ;;
    'plan') _coop_words '--workspace --view --rw --ro --hide --overlay --tmpfs --cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-net --deny-net --allow-udp --publish --host-port --socket --unsafe --terminal --memory --pids --cpus --tmp-size --open-files --file-size --timeout --output-limit --require --best-effort --config --as --channel --group --agent --cron --verbose --log-format --quiet --tty --no-tty --json --why --help --' ;;
    'policy show') _coop_words '--origin --json --workspace --help' ;;
    'policy check') COMPREPLY=($(compgen -f -W '--json --workspace --help' -- "$current")) ;;
    'policy explain') COMPREPLY=($(compgen -f -W '--workspace --view --rw --ro --hide --overlay --tmpfs --cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-net --deny-net --allow-udp --publish --host-port --socket --unsafe --terminal --memory --pids --cpus --tmp-size --open-files --file-size --timeout --output-limit --require --best-effort --config --as --channel --group --agent --cron --verbose --log-format --quiet --tty --no-tty --json --why --help --' -- "$current")) ;;
    'policy diff') COMPREPLY=($(compgen -f -W '--json --workspace --help' -- "$current")) ;;
    'policy export') _coop_words '--scope --workspace --help' ;;
    'policy import') COMPREPLY=($(compgen -f -W '--scope --dry-run --workspace --help' -- "$current")) ;;
    'policy approve') _coop_words '--yes --revoke --workspace --help' ;;
    'policy schema') _coop_words '--help' ;;
    'trust') _coop_words 'terminal:default --group --as --cron --agent --config --json --workspace --help' ;;
    'config check') COMPREPLY=($(compgen -f -W '--json --config --help' -- "$current")) ;;
    'tool') _coop_words 'bash exec read_file write_file edit_file list_files search_files send_file fetch_url --list --on-leak --json --workspace --view --rw --ro --hide --overlay --tmpfs --cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-net --deny-net --allow-udp --publish --host-port --socket --unsafe --terminal --memory --pids --cpus --tmp-size --open-files --file-size --require --best-effort --config --as --channel --group --agent --verbose --log-format --help' ;;
    'mcp') _coop_words '--http --token-file --on-leak --workspace --view --rw --ro --hide --overlay --tmpfs --cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-net --deny-net --allow-udp --publish --host-port --socket --unsafe --terminal --memory --pids --cpus --tmp-size --open-files --file-size --require --best-effort --config --as --channel --group --agent --verbose --log-format --help' ;;
    'status') _coop_words '--json --help' ;;
    'completion') _coop_words 'bash zsh fish --help' ;;
    'man') _coop_words 'coop coop-run coop-policy coop-mcp --help' ;;
  esac
}
complete -o filenames -F _coop coop
