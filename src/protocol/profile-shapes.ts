// Converts current events to the shapes of an older version: tool arguments and results. The codec does the rest.
import { isObject, type JsonObject, objectsIn, withoutKeys } from "../json/object.ts";
import { list } from "../text/words.ts";
import type { AgentEvent, Outcome } from "./event.ts";
import type { Profile } from "./profiles.ts";

/** Converts an event to the form it had in a version of the format; undefined if that version had no such event. */
export function inProfile(event: AgentEvent, profile: Profile): AgentEvent | undefined {
  switch (event.type) {
    case "tool_start":
    case "tool_end": {
      if (profile.missingTools.includes(event.tool)) return undefined;
      const args = isObject(event.args) ? argsIn(event.tool, event.args, profile) : event.args;
      const shaped = { ...event, args };
      if (profile.commandFields === "first") delete shaped.description;
      if (shaped.type === "tool_start" || !shaped.outcome) return shaped;
      return { ...shaped, outcome: outcomeIn(event.tool, shaped.outcome, profile) };
    }
    case "done":
    case "fail": {
      if (profile.usage) return event;
      const { usage: _, ...rest } = event;
      return rest;
    }
    case "notice":
    case "retry":
      return profile.extensions ? event : undefined;
    default:
      return event;
  }
}

const newerCommandArgs = list(`
  fileOutputThresholdBytes isBackground skipApproval timeoutBehavior hardTimeout description closeStdin conversationId`);

function argsIn(tool: string, args: JsonObject, { commandFields, wordTypes, globDirectory }: Profile): JsonObject {
  if (tool === "shell") {
    const isFirst = commandFields === "first";
    const { parsingResult } = args;
    if (!isObject(parsingResult)) return isFirst ? withoutKeys(args, newerCommandArgs) : args;
    const commands = wordTypes === "three" ? { executableCommands: commandsInThreeTypes(parsingResult) } : {};
    const parsed = { ...(isFirst ? withoutKeys(parsingResult, ["redirects"]) : parsingResult), ...commands };
    return { ...(isFirst ? withoutKeys(args, newerCommandArgs) : args), parsingResult: parsed };
  }
  if (tool === "glob" && globDirectory === "always") return { targetDirectory: "", ...args };
  return args;
}

const threeTypes: Readonly<Record<string, string>> = {
  number: "number",
  string: "string",
  raw_string: "string",
  ansi_c_string: "string",
};

function commandsInThreeTypes({ executableCommands }: JsonObject): JsonObject[] {
  return objectsIn(executableCommands).map((command) => ({
    ...command,
    args: objectsIn(command.args).map((arg) => ({ ...arg, type: threeTypes[String(arg.type)] ?? "word" })),
  }));
}

const newerCommandResult = ["interleavedOutput", "localExecutionTimeMs", "pid", "taskId", "outputLocation"];

function outcomeIn(tool: string, outcome: Outcome, profile: Profile): Outcome {
  const { value } = outcome;
  const kind = tool === "shell" && outcome.kind === "failure" ? profile.failedCommand : outcome.kind;
  const siblings = profile.callSiblings && outcome.siblings ? { siblings: outcome.siblings } : {};
  if (!isObject(value)) return { kind, value, ...siblings };
  return { kind, value: valueIn(tool, value, profile), ...siblings };
}

function valueIn(tool: string, value: JsonObject, profile: Profile): JsonObject {
  switch (tool) {
    case "shell":
      return profile.commandFields === "first" ? withoutKeys(value, newerCommandResult) : value;
    case "read":
      return profile.readRules ? value : withoutKeys(value, ["relatedCursorRulePaths", "relatedCursorRules"]);
    case "edit": {
      if (profile.diffString === "unified" || typeof value.diffString !== "string") return value;
      const isNew = value.beforeFullFileContent === undefined;
      return {
        ...value,
        ...(isNew && profile.newFileRemovesLine && { linesRemoved: 1 }),
        diffString: changedLines(value.diffString, { isNew, diffString: profile.diffString }),
      };
    }
    default:
      return value;
  }
}

/** Returns the changed lines of a unified diff in the format of older versions, where a new file replaces one empty line. */
function changedLines(diff: string, { isNew, diffString }: Pick<Profile, "diffString"> & { isNew: boolean }): string {
  // Skip the two header lines of the diff.
  const lines = diff
    .split("\n")
    .slice(2)
    .filter((line) => /^[-+]/.test(line));
  if (isNew) lines.unshift("-");
  return (diffString === "lines" ? lines : lines.map((line) => `${line[0]} ${line.slice(1)}`)).join("\n");
}
