"""A fresh user for tests of presets: secrets in the home, repositories, a model on loopback, and what an agent is started with."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

COOP = os.environ["COOP_PROGRAM"]
SRV = os.environ["COOP_TEST_SRV"]
HOME = os.environ["HOME"]
MOCK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mock_model.py")

# Where npm's prefixes are: the system's, and those that people have in their homes. The last is none that coop knows.
SYSTEM = os.path.join(SRV, "npm")
NPM_GLOBAL = os.path.join(HOME, ".npm-global")
NVM = os.path.join(HOME, ".nvm/versions/node/v24.0.0")
UNKNOWN = os.path.join(HOME, "tools/npm")

# Each begins so, and nothing else does.
CANARY = "canary-6b1f"
NAME, ADDRESS = "Ann Example", "ann@example.org"
SECRETS = {
    ".ssh/id_ed25519": f"{CANARY}-ssh\n",
    ".aws/credentials": f"[default]\naws_secret_access_key = {CANARY}-aws\n",
    ".npmrc": f"//registry.example.org/:_authToken={CANARY}-npm\n",
    ".netrc": f"machine example.org login ann password {CANARY}-netrc\n",
    ".git-credentials": f"https://ann:{CANARY}-git@example.org\n",
    ".bashrc": f"export TOKEN={CANARY}-bashrc\n",
    ".config/gh/hosts.yml": f"github.com:\n  oauth_token: {CANARY}-gh\n",
    ".claude/.credentials.json": json.dumps({"claudeAiOauth": {"accessToken": f"{CANARY}-claude"}}),
    ".claude.json": json.dumps({"primaryApiKey": f"{CANARY}-claude"}),
    ".codex/auth.json": json.dumps({"OPENAI_API_KEY": f"{CANARY}-codex"}),
    ".gemini/oauth_creds.json": json.dumps({"access_token": f"{CANARY}-gemini"}),
    ".local/share/opencode/auth.json": json.dumps({"anthropic": {"type": "api", "key": f"{CANARY}-opencode"}}),
    ".gitconfig": f"[user]\n\tname = {NAME}\n\temail = {ADDRESS}\n[credential]\n\thelper = store\n"
                  f"[http]\n\textraHeader = X-Token: {CANARY}-header\n",
}
OWN_PROGRAM = "own-program"
VARIABLES = {"AWS_SECRET_ACCESS_KEY": f"{CANARY}-variable", "GH_TOKEN": f"{CANARY}-variable"}


class Agent:
    """How one agent takes a prompt without a terminal, where its model is, and what it keeps."""

    def __init__(self, name, arguments, variables, state, settings=None, in_git=(), refused=(), git="git"):
        self.name = name
        self.arguments = arguments      # a function of the prompt and the model's address
        self.variables = variables      # of the policy file: a function of the model's address
        self.state = state              # in its own home
        self.settings = settings or {}  # there too: JSON files, and what they need for this model
        self.in_git = in_git            # what it leaves in .git, which docs/agents.md says
        self.refused = set(refused)     # hosts that it asks for and does not get
        self.git = git                  # how its shell commands call git with the user's settings


def codex_provider(model):
    return ["-m", "mock", "-c", 'model_provider="mock"', "-c", 'model_providers.mock={name="mock",base_url="' + model +
            '/v1",wire_api="responses",env_key="CODEX_API_KEY"}']


def opencode_settings(model):
    return json.dumps({"provider": {"anthropic": {"options": {"baseURL": model + "/v1"}}}, "model": "anthropic/claude-sonnet-4-5"})


AGENTS = {agent.name: agent for agent in (
    Agent("claude", lambda prompt, model: ["-p", prompt, "--dangerously-skip-permissions"],
          lambda model: {"ANTHROPIC_BASE_URL": model}, ".claude"),
    Agent("codex", lambda prompt, model: ["exec", *codex_provider(model), prompt], lambda model: {}, ".codex"),
    Agent("gemini", lambda prompt, model: ["-p", prompt, "--yolo"], lambda model: {"GOOGLE_GEMINI_BASE_URL": model}, ".gemini",
          settings={".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}}},
          # Outside too it gives its commands GIT_CONFIG_GLOBAL=/dev/null.
          git="GIT_CONFIG_GLOBAL=~/.gitconfig git"),
    Agent("opencode", lambda prompt, model: ["run", "--auto", prompt],
          # Without the second, its first screen waits for packages that it cannot get.
          lambda model: {"OPENCODE_CONFIG_CONTENT": opencode_settings(model), "OPENCODE_FAST_BOOT": "1"}, ".local/share/opencode",
          in_git=["opencode"], refused=["registry.npmjs.org"]),
)}
KEYS = {"ANTHROPIC_API_KEY": "test", "CODEX_API_KEY": "test", "GEMINI_API_KEY": "test"}


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def environment(prefix):
    """Of a shell in which that prefix of npm counts."""
    kept = {name: os.environ[name] for name in ("USER", "LOGNAME") if name in os.environ}
    path = [os.path.join(prefix, "bin"), os.path.join(HOME, ".local/bin"), "/usr/local/bin", "/usr/bin", "/bin"]
    path += [os.path.dirname(node) for node in [shutil.which("node")] if node]
    return kept | KEYS | VARIABLES | {"HOME": HOME, "PATH": ":".join(path), "TERM": "xterm-256color", "LANG": "C.UTF-8"}


def git(where, *words):
    plain = {"HOME": HOME, "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", "-C", where, *words], env=plain, capture_output=True, text=True, check=True).stdout


def make_secrets():
    os.makedirs(os.path.join(HOME, ".local/state"), exist_ok=True)
    for name, text in SECRETS.items():
        write(os.path.join(HOME, name), text, 0o600)
    write(os.path.join(HOME, ".local/bin", OWN_PROGRAM), "#!/bin/sh\necho from-the-home\n", 0o755)


def clone_into(path):
    """A fresh clone: of a repository with one commit."""
    with tempfile.TemporaryDirectory() as origin:
        git(origin, "init", "--quiet", "-b", "main")
        write(os.path.join(origin, "README"), "a project\n")
        git(origin, "add", ".")
        git(origin, "-c", "user.name=Bob", "-c", "user.email=bob@example.org", "commit", "--quiet", "-m", "begin")
        git(origin, "clone", "--quiet", "--no-local", origin, path)
    git(path, "remote", "remove", "origin")
    return path


def files_below(top, leave_out=()):
    """{PATH: what it is} for everything below, with contents; of big files and of packages the size and time are enough."""
    found = {}
    for place, directories, files in os.walk(top):
        directories[:] = [name for name in directories if os.path.join(place, name) not in leave_out]
        for name in directories + files:
            path = os.path.join(place, name)
            status = os.lstat(path)
            what = [status.st_mode, status.st_uid]
            if os.path.islink(path):
                what.append(os.readlink(path))
            elif os.path.isfile(path):
                whole = status.st_size < 1 << 16 and "/node_modules/" not in path
                what += [status.st_size, status.st_mtime_ns, read(path) if whole else None]
            found[os.path.relpath(path, top)] = what
    return found


def changed(before, now):
    return sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))


def holds_canary(top):
    """Files below with the text of a secret in them."""
    return [path for path in files_below(top) if os.path.isfile(os.path.join(top, path))
            and not os.path.islink(os.path.join(top, path)) and CANARY in read(os.path.join(top, path))]


class Model:
    """The model: follows a script, keeps what it was sent. The user's policy file says where it is, and that nothing else counts."""

    def __init__(self, agent, turns):
        self.agent = agent
        self.place = tempfile.TemporaryDirectory()
        write(self.path("script.json"), json.dumps(turns))
        self.process = subprocess.Popen([sys.executable, MOCK, self.path("script.json"), self.path("log"), self.path("port")])
        while not os.path.exists(self.path("port")) or not read(self.path("port")):
            if self.process.poll() is not None:
                raise RuntimeError("the mock ended")
        self.port = int(read(self.path("port")))
        self.url = f"http://localhost:{self.port}"
        variables = agent.variables(self.url)
        allowed = subprocess.run([COOP, "presets", agent.name], capture_output=True, text=True, check=True, timeout=60).stdout
        [reach] = [line.split(None, 2)[2] for line in allowed.splitlines() if line.startswith("may reach")]
        write(os.path.join(HOME, ".config/coop/policy.toml"),
              f"[sandbox.network]\nhost_ports = [{self.port}]\n"
              # A machine of the tests may have a network: what the preset allows is for once denied.
              f"deny = {json.dumps(reach.split(', '))}\n"
              "[sandbox.env.set]\n" + "".join(f"{name} = '{value}'\n" for name, value in variables.items()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.place.cleanup()

    def path(self, name):
        return os.path.join(self.place.name, name)

    def log(self):
        return read(self.path("log")) if os.path.exists(self.path("log")) else ""

    def results(self):
        """Each result of a tool that the model was sent, as text: from the request that has most of them."""
        most = []
        for line in self.log().splitlines():
            body = json.loads(line).get("body") or {}
            parts = [part for message in body.get("messages", []) if isinstance(message["content"], list)
                     for part in message["content"] if part.get("type") == "tool_result"]
            parts += [message for message in body.get("messages", []) if message["role"] == "tool"]
            parts += [item for item in body.get("input", []) if isinstance(item, dict) and "output" in item]
            parts += [part for content in body.get("contents", []) for part in content["parts"] if "functionResponse" in part]
            most = max(most, parts, key=len)
        return [json.dumps(part) for part in most]

    def arguments(self, prompt):
        return self.agent.arguments(prompt, self.url)


SHELL_TOOLS = "Bash|bash|exec_command|shell|shell_command|run_shell_command"


def turns(command):
    return [{"tool": SHELL_TOOLS, "command": command}, {"text": "all done"}]


def reading_of(names):
    """Shell words that read secrets by their name below HOME, and by their absolute path."""
    return "; ".join(f"cat ~/{name} {shlex.quote(os.path.join(HOME, name))}" for name in names)


def coop(*words, cwd=None, prefix=SYSTEM, timeout=300):
    return subprocess.run([COOP, *words], cwd=cwd or HOME, env=environment(prefix), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", timeout=timeout, check=False)


def home_of(agent, workspace):
    """The kept home of an agent for that project: (NAME, PATH), as `coop home` says."""
    rows = [line.split() for line in coop("home", "ls").stdout.splitlines()]
    [name] = [row[0] for row in rows if row[0].startswith(agent + "-") and row[-1] == workspace]
    return name, coop("home", "path", name).stdout.strip()


def prepare_home(agent, workspace, prefix):
    """Makes the kept home, and writes the settings that this model needs into it: as a user would in the agent's dialog."""
    if not agent.settings:
        return
    made = coop("run", "--", agent.name, "--version", cwd=workspace, prefix=prefix)
    if made.returncode != 0:
        raise RuntimeError(made.stderr)
    _, home = home_of(agent.name, workspace)
    for name, wanted in agent.settings.items():
        path = os.path.join(home, name)
        write(path, json.dumps((json.loads(read(path)) if os.path.exists(path) else {}) | wanted))
