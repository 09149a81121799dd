"""Courser as an agent of Harbor.

    harbor run --dataset terminal-bench@2.0 --agent-import-path courser_agent:CourserAgent --model anthropic/claude-sonnet-4-5

Courser speaks the stream of cursor-agent, so everything but installing and starting it is Harbor's built-in agent for that
CLI: the trajectory, tokens and cost, MCP servers, skills.
"""

import shlex

from harbor.agents.installed.base import with_prompt_template
from harbor.agents.installed.cursor_cli import CursorCli

# Passed on to the container where they are set.
VENDORS = """
    ANTHROPIC AZURE AZURE_OPENAI CEREBRAS CURSOR DASHSCOPE DEEPSEEK FIREWORKS GEMINI GOOGLE GOOGLE_GENERATIVE_AI
    GOOGLE_VERTEX GROQ MISTRAL MOONSHOT NVIDIA OPENAI OPENROUTER TOGETHER TOGETHER_AI XAI ZAI
"""
KEYS = (*(f"{vendor}_API_KEY" for vendor in VENDORS.split()), "AWS_BEARER_TOKEN_BEDROCK", "HF_TOKEN", "CURSOR_API_ENDPOINT")
PATH = 'export PATH="$HOME/.courser/bin:$PATH"; [ ! -s "$HOME/.nvm/nvm.sh" ] || . "$HOME/.nvm/nvm.sh"; '
NODE_IS_NEW_ENOUGH = "const [a, b] = process.versions.node.split('.').map(Number); process.exit(a * 100 + b < 2019 ? 1 : 0)"
NVM = "https://raw.githubusercontent.com/nvm-sh/nvm/v0.40.3/install.sh"
# Older versions of Harbor have none.
OPTIONS = getattr(CursorCli, "options_model", None)


class CourserAgent(CursorCli):
    """`package` (--ak package=…) is what npm installs: a name, a version, a URL, or a tarball in the container."""

    if OPTIONS is not None:  # Harbor checks the options of an agent before it starts anything.

        class options_model(OPTIONS):
            package: str = "courser-agent"

    def __init__(self, *args, package="courser-agent", **kwargs):
        if OPTIONS is not None:
            kwargs["package"] = package
        super().__init__(*args, **kwargs)
        self._package = package

    @staticmethod
    def name() -> str:
        return "courser"

    def get_version_command(self) -> str:
        return PATH + "courser --version"

    def install_command(self) -> str:
        has_node = f"node -e {shlex.quote(NODE_IS_NEW_ENOUGH)} 2>/dev/null"
        get_node = f'{{ curl -fsSL {NVM} | bash; . "$HOME/.nvm/nvm.sh"; nvm install 22; }}'
        package = shlex.quote(self._package)
        return (
            f'set -eo pipefail; {has_node} || {get_node}; '
            f'npm install --global --prefix "$HOME/.courser" --no-audit --no-fund {package}; {PATH}courser --version'
        )

    def run_command(self, instruction: str) -> str:
        flags = self.build_cli_flags()
        effort = getattr(getattr(self, "options", None), "reasoning_effort", None)
        words = ["--yolo", "--print", "--output-format=stream-json", *([flags] if flags else [])]
        if self.model_name:
            words.append(f"--model={shlex.quote(self.model_name)}")
        if effort:
            words.append(f"--effort={'high' if effort in ('xhigh', 'max') else effort}")
        command = " ".join(["courser", *words, "--", shlex.quote(instruction)])
        return f"{PATH}{command} </dev/null 2>&1 | stdbuf -oL tee /logs/agent/{self._OUTPUT_FILENAME}"

    async def install(self, environment) -> None:
        await self.ensure_system_dependencies(environment, ("curl", "bash"))
        await self.exec_as_agent(environment, command=self.install_command())
        skills = self._build_register_skills_command()
        if skills:
            await self.exec_as_agent(environment, command=skills)

    def _convert_events_to_trajectory(self, events):
        trajectory = super()._convert_events_to_trajectory(events)
        trajectory.agent.name = self.name()
        return trajectory

    @with_prompt_template
    async def run(self, instruction, environment, context) -> None:
        env = {name: value for name in KEYS if (value := self._get_env(name))}
        servers = self._build_register_mcp_servers_command()
        if servers:
            await self.exec_as_agent(environment, command=servers, env=env)
        await self.exec_as_agent(environment, command=self.run_command(instruction), env=env)
