# bash completion for coop; made by `coop completion bash`
_coop_homes() { coop home ls --json 2>/dev/null | sed -n 's/^ *"name": "\([A-Za-z0-9][A-Za-z0-9._-]*\)",*$/\1/p'; }
_coop_runs() { coop quarantine list --json 2>/dev/null | sed -n 's/^ *"id": "\([A-Za-z0-9][A-Za-z0-9._-]*\)",*$/\1/p'; }
_coop() {
  local at=$COMP_CWORD current=${COMP_WORDS[COMP_CWORD]} previous index word
  local command=${COMP_WORDS[1]}
  COMPREPLY=()
  # Bash makes "@" and "=" words of their own.
  case ${COMP_WORDS[at-1]} in @) current=@$current; ((--at)) ;; =@) current=@$current ;; esac
  case $current in =) current= ;; =@) current=@ ;; esac
  case ${COMP_WORDS[at-1]} in =|=@) ((--at)) ;; esac
  previous=${COMP_WORDS[at-1]}
  for ((index = 1; index < COMP_CWORD; ++index)); do
    if [[ ${COMP_WORDS[index]} == -- ]]; then
      if ((index + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- "$current"));
      else COMPREPLY=($(compgen -f -- "$current")); fi
      return
    fi
  done
  _coop_words() {
    COMPREPLY=($(compgen -W "$1" -- "$current"))
    # No file names: an "@" needs no backslash.
    [[ $1 != @* ]] || compopt +o filenames 2>/dev/null || true
  }
  # Flags, arguments, and behind how many words there may be paths. Without a dash, no flag that is there.
  _coop_or() {
    [[ $current != -* ]] || { _coop_words "$1"; return; }
    local words=$2
    if [[ -n $3 && $((COMP_CWORD - 1)) -gt $3 ]]; then
      ((!$3)) || words=
      COMPREPLY=($(compgen -f -- "$current"))
    fi
    for word in $1; do
      [[ $word == --help || " ${COMP_WORDS[*]} " == *" $word "* ]] || words+=" $word"
    done
    COMPREPLY+=($(compgen -W "$words" -- "$current"))
  }
  if ((COMP_CWORD == 1)); then _coop_words 'run plan policy trust quarantine home presets config tool mcp setup hook status completion man --help --version'; return; fi
  if ((COMP_CWORD > 2)); then case $command in
    policy|quarantine|home|config) command+=" ${COMP_WORDS[2]}" ;;
  esac; fi
  case $previous in
    --blacklist|--config|--hide|--overlay|--ro|--rw|--socket|--tmpfs|--token-file|--workspace|-w) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --allow-guarded) _coop_words '.RData .Renviron .Rprofile .agent .agents/skills .aider.conf.yml .amazonq .amp .appveyor.yml .arcconfig .augment .autoenv .autoenv.zsh .autoenv_leave.zsh .aws/amazonq .azure-pipelines .bazeliskrc .bazelrc .bsp .build.yml .buildkite .builds .bundle/plugin .byebugrc .cargo/bin .cargo/config .cargo/config.toml .cargo/env .circleci .cirrus.star .cirrus.yml .claude/agents .claude/commands .claude/hooks .claude/launch.json .claude/local .claude/plugins .claude/settings.json .claude/settings.local.json .claude/shell-snapshots .claude/skills .clinerules/hooks .codex .config/Code/User .config/Cursor/User .config/VSCodium/User .config/amp .config/crush .config/direnv .config/emacs .config/gh .config/git .config/github-copilot .config/goose .config/helix .config/hg .config/jj .config/lefthook-local.json .config/lefthook-local.jsonc .config/lefthook-local.toml .config/lefthook-local.yaml .config/lefthook-local.yml .config/lefthook.json .config/lefthook.jsonc .config/lefthook.toml .config/lefthook.yaml .config/lefthook.yml .config/mise .config/mise.toml .config/nvim .config/opencode .config/zed .continue .coop .copilot .crush.json .cursor .devcontainer .devcontainer.json .dir-locals-2.el .dir-locals.el .direnv .drone.jsonnet .drone.star .drone.yml .emacs .emacs.d .envrc .erlang .exrc .externalToolBuilders .factory .fleet .forgejo/actions .forgejo/workflows .gdbinit .gemini .ghci .git .git-hooks .git/MERGE_AUTOSTASH .git/MERGE_RR .git/branches .git/config .git/config.worktree .git/gitdir .git/hooks .git/index .git/info/attributes .git/lazygit.yml .git/rebase-apply/apply-opt .git/rebase-apply/autostash .git/rebase-apply/last .git/rebase-apply/next .git/rebase-merge/autostash .git/rebase-merge/end .git/rebase-merge/git-rebase-todo .git/rebase-merge/msgnum .git/rebase-merge/strategy .git/remotes .git/sequencer/opts .git/sl/config .gitconfig .gitea/actions .gitea/workflows .github/actions .github/agents .github/hooks .github/lsp.json .github/mcp.json .github/skills .github/workflows .gitlab .gitlab-ci.yml .gitpod.yml .goose .grok .gvimrc .harness .helix .hg/hgrc .hg/hgrc-not-shared .hg/sharedpath .hgrc .hie-bios .husky .huskyrc .huskyrc.js .huskyrc.json .idea .iex.exs .irbrc .jj/repo .jj/repo/config-id .jj/repo/config.toml .jj/workspace-config-id .jj/workspace-config.toml .junie .kateproject .kilocode .kilocodemodes .kiro .lazy.lua .lazygit.yml .lefthook .lefthook-local .lefthook-local.json .lefthook-local.jsonc .lefthook-local.toml .lefthook-local.yaml .lefthook-local.yml .lefthook.json .lefthook.jsonc .lefthook.toml .lefthook.yaml .lefthook.yml .lfsconfig .lintstagedrc .lintstagedrc.cjs .lintstagedrc.cts .lintstagedrc.js .lintstagedrc.json .lintstagedrc.mjs .lintstagedrc.mts .lintstagedrc.ts .lintstagedrc.yaml .lintstagedrc.yml .lldbinit .local/share/direnv/allow .local/share/mise/shims .lsp.json .luarc.json .luarc.jsonc .lvimrc .mcp.json .mise .mise.local.toml .mise.toml .mvn .nova .npmrc .nvim.lua .nvimrc .ocamlinit .octaverc .opencode .openhands .overcommit.yml .pdbrc .perldb .phpactor.json .phpactor.yml .pi .pijul/config .pnpmfile.cjs .pnpmfile.mjs .pre-commit-config.yaml .prototools .prow .prow.yaml .pryrc .qwen .rdbgrc .repo/repo .reviewboardrc .roo .roomodes .rovodev .rvmrc .semaphore .sl/config .sl/sharedpath .solargraph.yml .tabnine .taskcluster.yml .teamcity .tekton .theia .tool-versions .trae .travis.yml .vibe .vim .vim/coc-settings.json .vimrc .vscode .windsurf .woodpecker .woodpecker.yaml .woodpecker.yml .yarn/plugins .yarn/releases .yarnrc .yarnrc.yml .ycm_extra_conf.py .zed .zuul.d .zuul.yaml Jenkinsfile _darcs/prefs _irbrc ansible.cfg appveyor.yml azure-pipelines.yml bitbucket-pipelines.yml buddy.yml buildspec.yml bunfig.toml captainhook.json cloudbuild.yaml codefresh.yml coop.toml crush.json global.json hie.yaml ipython_config.py irb.rc jupyter_config.py lefthook-local.json lefthook-local.jsonc lefthook-local.toml lefthook-local.yaml lefthook-local.yml lefthook.json lefthook.jsonc lefthook.toml lefthook.yaml lefthook.yml lint-staged.config.cjs lint-staged.config.cts lint-staged.config.js lint-staged.config.mjs lint-staged.config.mts lint-staged.config.ts lsp.json mise.local.toml mise.toml mise/config.toml opencode.json opencode.jsonc prek.toml rust-analyzer.toml rust-toolchain rust-toolchain.toml screwdriver.yaml sitecustomize.py startup.m usercustomize.py wercker.yml zuul.d zuul.yaml ~/.Renviron ~/.Rprofile ~/.asdf ~/.asdfrc ~/.aws ~/.bash_aliases ~/.bash_completion ~/.bash_login ~/.bash_logout ~/.bash_profile ~/.bashrc ~/.bazelrc ~/.bun/bin ~/.bundle ~/.claude ~/.claude.json ~/.clisprc.lisp ~/.clojure ~/.codex ~/.config/alacritty ~/.config/autostart ~/.config/awesome ~/.config/bat ~/.config/bspwm ~/.config/containers ~/.config/curlrc ~/.config/dunst ~/.config/elvish ~/.config/environment.d ~/.config/fish ~/.config/foot ~/.config/gdb ~/.config/ghostty ~/.config/hypr ~/.config/i3 ~/.config/ipython ~/.config/irb ~/.config/kak ~/.config/kitty ~/.config/labwc ~/.config/lesskey ~/.config/lf ~/.config/mc ~/.config/micro ~/.config/mise ~/.config/mpv ~/.config/mutt ~/.config/neomutt ~/.config/niri ~/.config/nix ~/.config/nushell ~/.config/openbox ~/.config/pip ~/.config/plasma-workspace ~/.config/polybar ~/.config/powershell ~/.config/pry ~/.config/psql ~/.config/ranger ~/.config/river ~/.config/sqlite3 ~/.config/starship.toml ~/.config/sublime-text ~/.config/sway ~/.config/sxhkd ~/.config/systemd/user ~/.config/tmux ~/.config/user-tmpfiles.d ~/.config/utop ~/.config/waybar ~/.config/wezterm ~/.config/xfce4 ~/.config/xonsh ~/.config/yazi ~/.cshrc ~/.curlrc ~/.cursor ~/.deno/bin ~/.direnvrc ~/.docker ~/.erlang ~/.forward ~/.fzf ~/.fzf.bash ~/.fzf.zsh ~/.gdbearlyinit ~/.gdbinit ~/.gemini ~/.gemrc ~/.ghc ~/.ghci ~/.gnupg ~/.gnuplot ~/.goenv ~/.gradle/gradle.properties ~/.gradle/init.d ~/.gradle/init.gradle ~/.gradle/init.gradle.kts ~/.guile ~/.iex.exs ~/.inputrc ~/.ipython ~/.irbrc ~/.jenv ~/.julia/config ~/.jupyter ~/.krew/bin ~/.kshrc ~/.kube ~/.lein ~/.less ~/.lessfilter ~/.lesskey ~/.lldbinit ~/.local/bin ~/.local/lib ~/.local/share/applications ~/.local/share/bash-completion ~/.local/share/dbus-1 ~/.local/share/gnome-shell ~/.local/share/nautilus ~/.local/share/plasma ~/.local/share/pnpm ~/.local/share/systemd/user ~/.local/share/thumbnailers ~/.login ~/.m2/extensions.xml ~/.m2/settings.xml ~/.mailcap ~/.mavenrc ~/.mbsyncrc ~/.mkshrc ~/.msmtprc ~/.muttrc ~/.my.cnf ~/.nanorc ~/.nodenv ~/.npm-global ~/.npmrc ~/.nvm ~/.ocamlinit ~/.octaverc ~/.oh-my-zsh ~/.p10k.zsh ~/.pam_environment ~/.pdbrc ~/.perldb ~/.procmailrc ~/.profile ~/.pryrc ~/.psqlrc ~/.pyenv ~/.pythonrc ~/.pythonrc.py ~/.pythonstartup ~/.pythonstartup.py ~/.rbenv ~/.rustup ~/.rvm ~/.sage ~/.sbclrc ~/.sbt ~/.screenrc ~/.sdkman ~/.sqliterc ~/.ssh ~/.tcshrc ~/.terraformrc ~/.tmux.conf ~/.vimrc ~/.volta ~/.wezterm.lua ~/.wgetrc ~/.xinitrc ~/.xmonad ~/.xonshrc ~/.xprofile ~/.xsession ~/.xsessionrc ~/.yarn/bin ~/.zlogin ~/.zlogout ~/.zprofile ~/.zsh ~/.zshenv ~/.zshrc ~/bin ~/go/bin'; return ;;
    --allow-net) _coop_words '@alpine @bitbucket @codeberg @conda @crates @debian @docker @ghcr @github @gitlab @go @gradle @hex @huggingface @maven @nodejs @npm @nuget @packagist @pypi @rubygems @rust @ubuntu'; return ;;
    --best-effort) _coop_words 'landlock limits proc'; return ;;
    --cache) _coop_words 'bazel bun cargo ccache composer deno go gradle huggingface maven npm nuget pip pnpm poetry sccache uv yarn'; return ;;
    --deny-net) _coop_words '@alpine @bitbucket @codeberg @conda @crates @debian @docker @ghcr @github @gitlab @go @gradle @hex @huggingface @maven @nodejs @npm @nuget @packagist @pypi @rubygems @rust @ubuntu'; return ;;
    --home) _coop_words '$(_coop_homes) ephemeral workspace'; return ;;
    --log-format) _coop_words 'json text'; return ;;
    --mode) _coop_words 'dynamic static'; return ;;
    --network) _coop_words 'allowlist full host none veth'; return ;;
    --on-leak) _coop_words 'block redact terminate'; return ;;
    --preset) _coop_words 'aider amp auggie claude cline codex continue copilot crush cursor droid gemini goose kilo opencode pi qwen'; return ;;
    --require) _coop_words 'landlock limits proc'; return ;;
    --scope) _coop_words 'effective organisation project user'; return ;;
    --share-cache) _coop_words 'bazel bun cargo ccache composer deno go gradle huggingface maven npm nuget pip pnpm poetry sccache uv yarn'; return ;;
    --terminal) _coop_words 'filtered raw'; return ;;
    --unsafe) _coop_words 'control_sockets host_network'; return ;;
    --view) _coop_words 'host minimal'; return ;;
  esac
  case $command in
    policy) _coop_words 'show check explain hosts diff export import approve schema --help' ;;
    quarantine) _coop_words 'list restore remove --help' ;;
    home) _coop_words 'ls path rm --help' ;;
    config) _coop_words 'check --help' ;;
    'run') _coop_or '--workspace --view --home --preset --import-login --no-preset --show-home --hide-secrets --rw --ro --hide --overlay --tmpfs --cache --share-cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-network --allow-net --deny-net --allow-udp --publish --host-port --mptcp --socket --unsafe --memory --pids --cpus --tmp-size --open-files --file-size --timeout --output-limit --require --best-effort --mode --static --containers --vm --allow-kvm --config --as --channel --group --agent --cron --verbose --log-format --quiet --tty --no-tty --terminal --json --help --' '' ;;
    'plan') _coop_or '--why --workspace --view --home --preset --import-login --no-preset --show-home --hide-secrets --rw --ro --hide --overlay --tmpfs --cache --share-cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-network --allow-net --deny-net --allow-udp --publish --host-port --mptcp --socket --unsafe --memory --pids --cpus --tmp-size --open-files --file-size --timeout --output-limit --require --best-effort --mode --static --containers --vm --allow-kvm --config --as --channel --group --agent --cron --verbose --log-format --quiet --tty --no-tty --terminal --json --help --' '' ;;
    'policy show') _coop_or '--origin --json --workspace --help' '' ;;
    'policy check') _coop_or '--scope --json --workspace --help' '' 0;;
    'policy explain') _coop_or '--workspace --view --home --preset --import-login --no-preset --show-home --hide-secrets --rw --ro --hide --overlay --tmpfs --cache --share-cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-network --allow-net --deny-net --allow-udp --publish --host-port --mptcp --socket --unsafe --memory --pids --cpus --tmp-size --open-files --file-size --timeout --output-limit --require --best-effort --mode --static --containers --vm --allow-kvm --config --as --channel --group --agent --cron --verbose --log-format --quiet --tty --no-tty --terminal --json --help --' '' 0;;
    'policy hosts') _coop_or '--json --help' '@github @gitlab @bitbucket @codeberg @npm @nodejs @pypi @conda @crates @rust @go @docker @ghcr @debian @ubuntu @alpine @maven @gradle @rubygems @nuget @packagist @hex @huggingface' ;;
    'policy diff') _coop_or '--json --workspace --help' '' 0;;
    'policy export') _coop_or '--scope --workspace --help' '' ;;
    'policy import') _coop_or '--scope --dry-run --workspace --help' '' 0;;
    'policy approve') _coop_or '--yes --revoke --workspace --help' '' ;;
    'policy schema') _coop_or '--help' '' ;;
    'trust') _coop_or '--group --as --cron --agent --config --json --workspace --help' 'terminal:default' ;;
    'quarantine list') _coop_or '--json --help' '$(_coop_runs)' ;;
    'quarantine restore') _coop_or '--help' '$(_coop_runs)' 2;;
    'quarantine remove') _coop_or '--all --help' '$(_coop_runs)' ;;
    'home ls') _coop_or '--json --help' '' ;;
    'home path') _coop_or '--help' '$(_coop_homes)' ;;
    'home rm') _coop_or '--help' '$(_coop_homes)' ;;
    'presets') _coop_or '--json --help' 'aider amp auggie claude cline codex continue copilot crush cursor droid gemini goose kilo opencode pi qwen' ;;
    'config check') _coop_or '--json --config --help' '' 0;;
    'tool') _coop_or '--list --on-leak --plain --json --workspace --view --home --show-home --hide-secrets --rw --ro --hide --overlay --tmpfs --cache --share-cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-network --allow-net --deny-net --allow-udp --publish --host-port --mptcp --socket --unsafe --memory --pids --cpus --tmp-size --open-files --file-size --require --best-effort --mode --static --containers --vm --allow-kvm --config --as --channel --group --agent --verbose --log-format --terminal --help' 'bash exec read_file write_file edit_file list_files search_files send_file fetch_url' ;;
    'mcp') _coop_or '--http --token-file --on-leak --workspace --view --home --show-home --hide-secrets --rw --ro --hide --overlay --tmpfs --cache --share-cache --allow-guarded --chdir --as-self --as-root --env --pass-env --unsafe-env --hostname --time-offset --debug --no-debug --network --allow-network --allow-net --deny-net --allow-udp --publish --host-port --mptcp --socket --unsafe --memory --pids --cpus --tmp-size --open-files --file-size --require --best-effort --mode --static --containers --vm --allow-kvm --config --as --channel --group --agent --verbose --log-format --terminal --help' '' ;;
    'setup') _coop_or '--bash --dry-run --yes --undo --json --help' 'claude codex copilot cursor gemini opencode vscode' ;;
    'hook') _coop_or '--help' 'claude' ;;
    'status') _coop_or '--json --help' '' ;;
    'completion') _coop_or '--help' 'bash zsh fish' ;;
    'man') _coop_or '--help' 'coop coop-run coop-policy coop-mcp run plan policy trust quarantine home presets config tool mcp setup hook status completion man' ;;
  esac
}
complete -o filenames -F _coop coop
