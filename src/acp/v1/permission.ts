// Turns a run's questions into session/request_permission of version 1, and the chosen option into an answer.
import { isObject, type JsonObject } from "../../json/object.ts";
import type {
  Answer,
  HooksQuestion,
  PermissionQuestion,
  PlanQuestion,
  Question,
  ServerQuestion,
  TrustQuestion,
} from "../../protocol/run.ts";
import { callFields, cutFence, textContent, type WireCall } from "./tool-call.ts";

/** Questions that can be answered by choosing one option. */
export type Choosable = Exclude<Question, { type: "choices" }>;

type Option = { optionId: string; name: string; kind: string; answer: Answer };

export type PermissionForm = { toolCall: JsonObject; options: readonly Option[] };

const reject: Option = {
  optionId: "reject-once",
  name: "Reject",
  kind: "reject_once",
  answer: { type: "no", reason: "The user said no." },
};

/** Converts a question to a permission request of ACP. `call` is the tool call it is about, as the client was shown it at its start. */
export function permissionForm(question: Choosable, call: WireCall | undefined, workspace: string): PermissionForm {
  switch (question.type) {
    case "permission":
      return aboutCall(question, call, workspace);
    case "plan":
      return aboutPlan(question, call);
    case "trust":
      return aboutTrust(question);
    case "server":
      return aboutServer(question);
    case "hooks":
      return aboutHooks(question);
  }
}

/** Returns the chosen answer. An unknown option or a missing answer means "no". */
export function answerIn(result: unknown, options: readonly Option[]): Answer {
  const outcome = isObject(result) ? result["outcome"] : undefined;
  if (!isObject(outcome) || outcome["outcome"] !== "selected")
    return { type: "no", reason: "The user gave no answer." };
  const chosen = options.find(({ optionId }) => optionId === outcome["optionId"]);
  return chosen?.answer ?? { type: "no", reason: "The answer was none of the options." };
}

/** Puts the command into the title, the input and the text, because clients differ in which they show. */
function aboutCall(question: PermissionQuestion, call: WireCall | undefined, workspace: string): PermissionForm {
  const { callId, args, reasons, diff, rules = [], offersSandbox, personOnly } = question;
  const tool = call?.tool ?? wireNameOf(question.tool, args);
  const command =
    tool === "shell" && isObject(args) && typeof args["command"] === "string" ? args["command"] : undefined;
  const options: Option[] = [
    { optionId: "allow-once", name: "Allow once", kind: "allow_once", answer: { type: "yes" } },
  ];
  // A call that only a person may allow is asked about each time.
  if (!personOnly)
    options.push({
      optionId: "allow-session",
      name: "Allow for this session",
      kind: "allow_always",
      answer: rules.length > 0 ? { type: "yes", grant: "run" } : { type: "yes", always: true },
    });
  if (!personOnly && rules.length > 0)
    options.push({
      optionId: "allow-always",
      name: `Always allow ${rules.join(", ")}`,
      kind: "allow_always",
      answer: { type: "yes", grant: "user" },
    });
  if (offersSandbox)
    options.push({
      optionId: "allow-sandbox",
      name: "Run commands in the sandbox without asking, in this project",
      kind: "allow_always",
      answer: { type: "yes", grant: "sandbox" },
    });
  return {
    toolCall: {
      ...callFields({ callId, tool, args }, workspace),
      status: "pending",
      content: [
        ...(command === undefined ? [] : [textContent(cutFence(command, "bash"))]),
        ...(diff === undefined ? [] : [textContent(cutFence(diff, "diff"))]),
        ...(reasons.length > 0 ? [textContent(reasons.join(" "))] : []),
      ],
    },
    options: [...options, reject],
  };
}

const wireNames: Readonly<Record<string, string>> = { LS: "ls", Write: "edit", SemanticSearch: "semSearch" };

/** Names the tool of a subagent's call, which the client has not been shown. */
function wireNameOf(name: string, args: unknown): string {
  if (isObject(args) && args["providerIdentifier"] !== undefined) return "mcp";
  return wireNames[name] ?? name.charAt(0).toLowerCase() + name.slice(1);
}

function aboutPlan({ id, name, text }: PlanQuestion & { id: string }, call: WireCall | undefined): PermissionForm {
  return {
    toolCall: {
      toolCallId: call?.callId ?? id,
      title: `Accept the plan: ${name}`,
      kind: "switch_mode",
      status: "pending",
      content: [textContent(text)],
    },
    options: [
      { optionId: "allow-once", name: "Accept the plan", kind: "allow_once", answer: { type: "yes" } },
      { ...reject, name: "Keep planning" },
    ],
  };
}

function aboutTrust({ id, workspace }: TrustQuestion & { id: string }): PermissionForm {
  const text = "The agent reads and changes files here, and follows the instructions of this project.";
  return rememberableForm(id, `Trust this workspace? ${workspace}`, `${workspace}\n\n${text}`, "Trust");
}

function aboutServer({ id, name, file, start }: ServerQuestion & { id: string }): PermissionForm {
  return rememberableForm(
    id,
    `Start the MCP server ${name}?`,
    `${file} is new or has changed. It would ${start}`,
    "Start",
  );
}

function aboutHooks({ id, files }: HooksQuestion & { id: string }): PermissionForm {
  const lines = files.flatMap(({ file, hooks }) => [
    `${file}:`,
    ...hooks.map(({ event, command, prompt }) => `  ${event}: ${command ?? `asks a model: ${prompt}`}`),
  ]);
  return rememberableForm(id, "Run the hooks of this project?", cutFence(lines.join("\n"), ""), "Run them");
}

/** Creates options to agree for this session, or always. */
function rememberableForm(id: string, title: string, text: string, verb: string): PermissionForm {
  return {
    toolCall: { toolCallId: id, title, kind: "other", status: "pending", content: [textContent(text)] },
    options: [
      { optionId: "allow-once", name: `${verb}, this time`, kind: "allow_once", answer: { type: "yes", grant: "run" } },
      { optionId: "allow-always", name: `${verb}, and remember`, kind: "allow_always", answer: { type: "yes" } },
      reject,
    ],
  };
}
