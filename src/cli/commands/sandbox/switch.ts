// `sandbox enable`, `disable` and `reset`: change the sandbox setting in cli-config.json. `status` shows its effect here.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { configDir } from "../../../store/config-dir.ts";
import { editConfig } from "../../../store/config-edit.ts";
import { editJson } from "../../../store/json-edit.ts";
import { userSandboxFile } from "../../../store/sandbox-files.ts";
import { stopUsingSandbox, usesSandbox } from "../../../store/trust.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { openForUser } from "./open.ts";

export async function enable(invocation: Invocation): Promise<number> {
  save(invocation, "enabled");
  return answer(
    `The sandbox is enabled: commands that no rule allows run in it, even with --force.\n${await whetherItWorks(invocation)}\n`,
  );
}

export async function disable(invocation: Invocation): Promise<number> {
  save(invocation, "disabled");
  return answer("The sandbox is disabled: commands run when a rule of permissions.allow or you permit them.\n");
}

export async function reset(invocation: Invocation): Promise<number> {
  save(invocation, undefined);
  const folder = configDir(invocation.env);
  const file = userSandboxFile(folder);
  const asks = stopUsingSandbox(folder, process.cwd()) ? "Commands in this project are asked about again.\n" : "";
  const ownFileNote = existsSync(file) ? `${file} is your own and was not changed.\n` : "";
  return answer(
    `The sandbox is back to its default: print mode (-p), and commands that only read.\n${asks}${await whetherItWorks(invocation)}\n${ownFileNote}`,
  );
}

/** Settings that `sandbox reset` removes together with the mode. */
const defaultedByReset = ["networkAccess", "readBoundary"];

function save(invocation: Invocation, mode: "enabled" | "disabled" | undefined): void {
  refuseAgents(invocation, "the sandbox that they run in");
  const file = join(configDir(invocation.env), "cli-config.json");
  editConfig({ file, scope: "user" }, (current) => {
    const present = Object.keys((current?.content["sandbox"] as object | undefined) ?? {});
    const removed = present.filter((key) => key === "mode" || (mode === undefined && defaultedByReset.includes(key)));
    const isEmptied = mode === undefined && removed.length === present.length;
    if (isEmptied && current?.content["sandbox"] === undefined) return undefined;
    return editJson(current?.text, [
      ...(isEmptied ? [["sandbox"]] : removed.map((key) => ["sandbox", key])).map(
        (path) => ({ type: "remove", path }) as const,
      ),
      ...(mode === undefined ? [] : [{ type: "set", path: ["sandbox", "mode"], value: mode } as const]),
    ]);
  });
}

async function whetherItWorks(invocation: Invocation): Promise<string> {
  const { sandbox, problem } = await openForUser(invocation);
  await sandbox.end();
  return problem ?? "It works here.";
}

export async function sandboxStatus(invocation: Invocation): Promise<number> {
  const { sandbox, settings, problem, workspace } = await openForUser(invocation);
  await sandbox.end();
  const withoutAsking = usesSandbox(configDir(invocation.env), workspace);
  const { mode, type, readBoundary, network, limits, warnings } = settings;
  for (const warning of warnings) writeStderr(`Warning: ${warning}\n`);
  if (wantsJson(invocation))
    return answerJson({
      mode,
      withoutAsking,
      available: problem === undefined,
      problem,
      type,
      readBoundary,
      network,
      limits,
    });
  const inProject = withoutAsking ? ", and in this project without asking" : "";
  const rows = [
    ["Sandbox", { enabled: "enabled", disabled: "disabled", auto: `used in print mode (-p)${inProject}` }[mode]],
    ["Available", problem === undefined ? "yes" : `no: ${problem.replace(/^The sandbox is not available: /, "")}`],
    ["Writable", type === "workspace_readonly" ? "nothing" : ["the workspace", ...settings.readwritePaths].join(", ")],
    ["Readable", readBoundary === "system" ? "all but what deny rules hide" : "the workspace and the system"],
    ["Network", network.default === "allow" ? "public hosts" : network.allow.join(", ") || "none"],
  ];
  return answer(`${rows.map(([name, value]) => `${`${name}:`.padEnd(11)}${value}`).join("\n")}\n`);
}
