// `sandbox status`: whether it is on, whether it works here, and what it lets pass.
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { openForUser } from "./open.ts";

export async function sandboxStatus(invocation: Invocation): Promise<number> {
  const { sandbox, settings, problem } = await openForUser(invocation);
  await sandbox.end();
  const { mode, type, readBoundary, network, limits, warnings } = settings;
  for (const warning of warnings) writeStderr(`Warning: ${warning}\n`);
  if (wantsJson(invocation))
    return answerJson({ mode, available: problem === undefined, problem, type, readBoundary, network, limits });
  const rows = [
    ["Sandbox", { enabled: "enabled", disabled: "disabled", auto: "used where nobody can be asked (-p)" }[mode]],
    ["Available", problem === undefined ? "yes" : `no: ${problem.replace(/^The sandbox is not available: /, "")}`],
    ["Writable", type === "workspace_readonly" ? "nothing" : ["the workspace", ...settings.readwritePaths].join(", ")],
    ["Readable", readBoundary === "system" ? "all but what deny rules hide" : "the workspace and the system"],
    ["Network", network.default === "allow" ? "public hosts" : network.allow.join(", ") || "none"],
  ];
  return answer(`${rows.map(([name, value]) => `${`${name}:`.padEnd(11)}${value}`).join("\n")}\n`);
}
