// `sandbox enable`, `disable` and `reset`: what cli-config.json says about the sandbox.
import { configDir } from "../../../store/config-dir.ts";
import { saveSandboxMode, userSandboxFile } from "../../../store/sandbox-settings.ts";
import type { Invocation } from "../../main.ts";
import { answer } from "../answer.ts";
import { openForUser } from "./open.ts";

export async function enable(invocation: Invocation): Promise<number> {
  saveSandboxMode(configDir(invocation.env), "enabled");
  return answer(
    `The sandbox is enabled: commands that no rule allows run in it, with --force too.\n${await whetherItWorks(invocation)}\n`,
  );
}

export async function disable(invocation: Invocation): Promise<number> {
  saveSandboxMode(configDir(invocation.env), "disabled");
  return answer("The sandbox is disabled: commands run when a rule of permissions.allow or you permit them.\n");
}

export async function reset(invocation: Invocation): Promise<number> {
  const folder = configDir(invocation.env);
  saveSandboxMode(folder, undefined);
  return answer(
    `The sandbox is back to its default: it is used where nobody can be asked, as with -p.\n${await whetherItWorks(invocation)}\n${userSandboxFile(folder)} is yours, and stays as it is.\n`,
  );
}

async function whetherItWorks(invocation: Invocation): Promise<string> {
  const { sandbox, problem } = await openForUser(invocation);
  await sandbox.end();
  return problem ?? "It works here.";
}
