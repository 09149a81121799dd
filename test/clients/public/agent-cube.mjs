// aetheronhq/agent-cube: several agents write, others judge; here its adapter and its parser for this one.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, check, conclusion, folder, preamble, prompts, repository, workspace } from "./check.mjs";

const script = join(folder, "drive-adapter.py");
writeFileSync(
  script,
  `import asyncio, json, sys
from pathlib import Path
sys.path.insert(0, ${JSON.stringify(join(repository, "python"))})
from cube.core.adapters.cursor import CursorAdapter
from cube.core.parsers.cursor import CursorParser

async def turn(prompt, session=None):
    told, error = [], None
    try:
        async for line in CursorAdapter().run(Path(${JSON.stringify(workspace)}), "auto", prompt, session, session is not None):
            told.append(CursorParser().parse(line))
    except RuntimeError as failure:
        error = str(failure)
    told = [vars(message) for message in told if message]
    return {"told": told, "error": error}

async def main():
    first = await turn(${JSON.stringify(prompts.work)})
    session = next(message["session_id"] for message in first["told"] if message["type"] == "system")
    print(json.dumps({
        "installed": CursorAdapter().check_installed(), "first": first,
        "second": await turn(${JSON.stringify(prompts.count)}, session), "failed": await turn(${JSON.stringify(prompts.fail)}),
    }, default=str))

asyncio.run(main())
`,
);
await attempt("adapter", async () => {
  // It asks whether somebody is logged in by looking for the agent's configuration, and takes keys out of the environment.
  spawnSync("cursor-agent", ["login", "anthropic", "--no-verify"], { input: "sk-ant-client" });
  const { stdout, stderr } = spawnSync("python3", [script], { cwd: workspace, encoding: "utf8", timeout: 120_000 });
  const seen = JSON.parse(stdout || JSON.stringify({ stderr }));
  check("finds the agent, installed and logged in", seen.installed === true, seen);
  const said = seen.first.told.filter(({ type }) => type === "assistant").map(({ content }) => content);
  check("the deltas are read, and what repeats them is known", said.join("").startsWith(preamble + conclusion), said);
  const tools = seen.first.told
    .filter(({ tool_name }) => tool_name)
    .map(({ tool_name, subtype }) => `${tool_name} ${subtype}`);
  check(
    "both calls start and end",
    tools.length === 4 && tools.includes("read started") && tools.includes("shell completed"),
    tools,
  );
  check("a chat is resumed", JSON.stringify(seen.second.told).includes("2 prompts"), seen.second);
  check("a failure is an exception", typeof seen.failed.error === "string", seen.failed);
});
process.exit(0);
