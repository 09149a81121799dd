// Prints version, system and model, for bug reports.
import { UserError } from "../../protocol/error-codes.ts";
import type { Invocation } from "../main.ts";
import { answer, answerJson, wantsJson } from "./answer.ts";
import { chosenModel } from "./chosen-model.ts";

export async function about(invocation: Invocation): Promise<number> {
  const { version, env } = invocation;
  const { model, named, configDir } = chosenModel(invocation);
  const modelName = model instanceof UserError ? (named ?? null) : model.displayName;
  const shell = env["SHELL"]?.replace(/^.*\//, "") || null;
  const terminal = env["TERM_PROGRAM"] || null;
  if (wantsJson(invocation)) {
    return answerJson({
      cliVersion: version,
      latestStatus: null,
      latestVersion: null,
      model: modelName,
      subscriptionTier: null,
      osPlatform: process.platform,
      osArch: process.arch,
      userEmail: null,
      terminalProgram: terminal,
      shell,
      lastRequestId: null,
      nodeVersion: process.version,
      configDir,
      // The SDK reads this to tell our CLI from other programs of the same name.
      package: "courser-agent",
    });
  }
  const rows = [
    ["Version", version],
    ["Model", modelName ?? "none"],
    ["System", `${process.platform} ${process.arch}`],
    ["Node", process.version],
    ["Terminal", terminal],
    ["Shell", shell],
    ["Config", configDir],
  ];
  return answer(
    rows
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name!.padEnd(10)}${value}\n`)
      .join(""),
  );
}
