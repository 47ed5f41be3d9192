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
    --allow-guarded) _coop_words '.agent .agents/skills .aider.conf.yml .amazonq .amp .appveyor.yml .augment .aws/amazonq .azure-pipelines .build.yml .buildkite .builds .cargo/bin .cargo/config .cargo/config.toml .cargo/env .circleci .cirrus.star .cirrus.yml .claude/agents .claude/commands .claude/hooks .claude/launch.json .claude/local .claude/plugins .claude/settings.json .claude/settings.local.json .claude/shell-snapshots .claude/skills .clinerules/hooks .codex .config/Code/User .config/Cursor/User .config/VSCodium/User .config/amp .config/crush .config/direnv .config/emacs .config/gh .config/git .config/github-copilot .config/goose .config/helix .config/hg .config/jj .config/lefthook.yml .config/mise .config/mise.toml .config/nvim .config/opencode .config/zed .continue .coop .copilot .crush.json .cursor .devcontainer .devcontainer.json .dir-locals-2.el .dir-locals.el .drone.jsonnet .drone.star .drone.yml .emacs .emacs.d .envrc .exrc .externalToolBuilders .factory .fleet .forgejo/actions .forgejo/workflows .gemini .git .git-hooks .git/branches .git/config .git/config.worktree .git/hooks .git/info/attributes .git/rebase-merge/git-rebase-todo .git/rebase-merge/strategy .git/remotes .git/sequencer/opts .gitconfig .gitea/actions .gitea/workflows .github/actions .github/agents .github/hooks .github/mcp.json .github/skills .github/workflows .gitlab .gitlab-ci.yml .gitpod.yml .goose .grok .gvimrc .harness .helix .hg/hgrc .hg/hgrc-not-shared .hg/sharedpath .hgrc .husky .huskyrc .huskyrc.js .huskyrc.json .idea .jj/repo .jj/repo/config-id .jj/repo/config.toml .jj/workspace-config-id .jj/workspace-config.toml .junie .kilocode .kilocodemodes .kiro .lefthook .lefthook-local .lefthook-local.yml .lefthook.json .lefthook.toml .lefthook.yaml .lefthook.yml .lfsconfig .local/share/direnv/allow .local/share/mise/shims .lsp.json .lvimrc .mcp.json .mise .mise.local.toml .mise.toml .mvn .nova .npmrc .nvim.lua .nvimrc .opencode .openhands .overcommit.yml .pi .pijul/config .pnpmfile.cjs .pnpmfile.mjs .pre-commit-config.yaml .prow .prow.yaml .qwen .roo .roomodes .rovodev .semaphore .sl/config .sl/sharedpath .tabnine .taskcluster.yml .teamcity .tekton .theia .trae .travis.yml .vibe .vim .vim/coc-settings.json .vimrc .vscode .windsurf .woodpecker .woodpecker.yaml .woodpecker.yml .yarn/plugins .yarn/releases .yarnrc .yarnrc.yml .zed .zuul.d .zuul.yaml Jenkinsfile _darcs/prefs appveyor.yml azure-pipelines.yml bitbucket-pipelines.yml buddy.yml buildspec.yml bunfig.toml captainhook.json cloudbuild.yaml codefresh.yml coop.toml crush.json lefthook-local.yml lefthook.json lefthook.toml lefthook.yaml lefthook.yml mise.local.toml mise.toml mise/config.toml opencode.json opencode.jsonc prek.toml rust-analyzer.toml screwdriver.yaml wercker.yml zuul.d zuul.yaml ~/.aws ~/.bash_aliases ~/.bash_login ~/.bash_logout ~/.bash_profile ~/.bashrc ~/.claude ~/.claude.json ~/.codex ~/.config/autostart ~/.config/environment.d ~/.config/fish ~/.config/hypr ~/.config/i3 ~/.config/mise ~/.config/pip ~/.config/plasma-workspace ~/.config/sway ~/.config/systemd/user ~/.config/tmux ~/.cshrc ~/.cursor ~/.docker ~/.forward ~/.gdbinit ~/.gemini ~/.gnupg ~/.inputrc ~/.kube ~/.lldbinit ~/.local/bin ~/.local/lib ~/.local/share/applications ~/.local/share/dbus-1 ~/.local/share/systemd/user ~/.login ~/.mailcap ~/.npmrc ~/.oh-my-zsh ~/.pam_environment ~/.procmailrc ~/.profile ~/.screenrc ~/.ssh ~/.tcshrc ~/.tmux.conf ~/.vimrc ~/.xinitrc ~/.xprofile ~/.xsession ~/.xsessionrc ~/.zlogin ~/.zlogout ~/.zprofile ~/.zshenv ~/.zshrc ~/bin'; return ;;
    --best-effort) _coop_words 'landlock limits proc'; return ;;
    --cache) _coop_words 'bazel bun cargo ccache composer deno go gradle huggingface maven npm nuget pip pnpm poetry sccache uv yarn'; return ;;
    --log-format) _coop_words 'json text'; return ;;
    --network) _coop_words 'allowlist full host none veth'; return ;;
    --on-leak) _coop_words 'block redact terminate'; return ;;
    --require) _coop_words 'landlock limits proc'; return ;;
    --scope) _coop_words 'effective organisation project user'; return ;;
    --share-cache) _coop_words 'bazel bun cargo ccache composer deno go gradle huggingface maven npm nuget pip pnpm poetry sccache uv yarn'; return ;;
    --terminal) _coop_words 'filtered raw'; return ;;
    --unsafe) _coop_words 'control_sockets host_network'; return ;;
    --view) _coop_words 'host minimal'; return ;;
  esac
  case $command in
    policy) _coop_words 'show check explain diff export import approve schema --help' ;;
    config) _coop_words 'check --help' ;;
    'run') _coop_words '--workspace --view --show-home --hide-secrets --rw --ro --hide --overlay --tmpfs --cache --share-cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-net --deny-net --allow-udp --publish --host-port --socket --unsafe --memory --pids --cpus --tmp-size --open-files --file-size --timeout --output-limit --require --best-effort --config --as --channel --group --agent --cron --verbose --log-format --quiet --tty --no-tty --terminal --json --help --' ;;
    'plan') _coop_words '--why --workspace --view --show-home --hide-secrets --rw --ro --hide --overlay --tmpfs --cache --share-cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-net --deny-net --allow-udp --publish --host-port --socket --unsafe --memory --pids --cpus --tmp-size --open-files --file-size --timeout --output-limit --require --best-effort --config --as --channel --group --agent --cron --verbose --log-format --quiet --tty --no-tty --terminal --json --help --' ;;
    'policy show') _coop_words '--origin --json --workspace --help' ;;
    'policy check') COMPREPLY=($(compgen -f -W '--scope --json --workspace --help' -- "$current")) ;;
    'policy explain') COMPREPLY=($(compgen -f -W '--workspace --view --show-home --hide-secrets --rw --ro --hide --overlay --tmpfs --cache --share-cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-net --deny-net --allow-udp --publish --host-port --socket --unsafe --memory --pids --cpus --tmp-size --open-files --file-size --timeout --output-limit --require --best-effort --config --as --channel --group --agent --cron --verbose --log-format --quiet --tty --no-tty --terminal --json --help --' -- "$current")) ;;
    'policy diff') COMPREPLY=($(compgen -f -W '--json --workspace --help' -- "$current")) ;;
    'policy export') _coop_words '--scope --workspace --help' ;;
    'policy import') COMPREPLY=($(compgen -f -W '--scope --dry-run --workspace --help' -- "$current")) ;;
    'policy approve') _coop_words '--yes --revoke --workspace --help' ;;
    'policy schema') _coop_words '--help' ;;
    'trust') _coop_words 'terminal:default --group --as --cron --agent --config --json --workspace --help' ;;
    'config check') COMPREPLY=($(compgen -f -W '--json --config --help' -- "$current")) ;;
    'tool') _coop_words 'bash exec read_file write_file edit_file list_files search_files send_file fetch_url --list --on-leak --json --workspace --view --show-home --hide-secrets --rw --ro --hide --overlay --tmpfs --cache --share-cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-net --deny-net --allow-udp --publish --host-port --socket --unsafe --memory --pids --cpus --tmp-size --open-files --file-size --require --best-effort --config --as --channel --group --agent --verbose --log-format --terminal --help' ;;
    'mcp') _coop_words '--http --token-file --on-leak --workspace --view --show-home --hide-secrets --rw --ro --hide --overlay --tmpfs --cache --share-cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-net --deny-net --allow-udp --publish --host-port --socket --unsafe --memory --pids --cpus --tmp-size --open-files --file-size --require --best-effort --config --as --channel --group --agent --verbose --log-format --terminal --help' ;;
    'status') _coop_words '--json --help' ;;
    'completion') _coop_words 'bash zsh fish --help' ;;
    'man') _coop_words 'coop coop-run coop-policy coop-mcp --help' ;;
  esac
}
complete -o filenames -F _coop coop
