// Asks for permission: shows what will run, where, why it needs approval, the diff of an edit, and the rule each answer would save.
import { isObject, type JsonObject } from "../../json/object.ts";
import { showText } from "../../policy/show.ts";
import type { Answer, PermissionQuestion } from "../../protocol/run.ts";
import { homeDir } from "../../store/config-dir.ts";
import { shortPath } from "../../text/short-path.ts";
import { cardName } from "../../view/call-words.ts";
import type { Desk } from "../desk.ts";
import { blanks, join, linesOf, nothing, type Painted, padded, widthOf, wrap } from "../painted.ts";
import { linePanel } from "../panels/line.ts";
import { bodyIndent } from "../transcript/card.ts";
import { diffLines, indented } from "../transcript/diff-lines.ts";
import { askByKey, type Choice, openUntil } from "./question-panel.ts";

type Reply = "once" | "session" | "always" | "wider" | "sandbox" | "no";

export async function askPermission(
  question: PermissionQuestion,
  signal: AbortSignal,
  desk: Desk,
): Promise<Answer | undefined> {
  const { rules = [], widerRules = [], personOnly } = question;
  while (!signal.aborted) {
    const reply = await askByKey<Reply>(desk, signal, {
      body: (columns) => questionBody(question, desk, columns),
      more: (columns) => diffOf(question, desk, columns),
      choices: choicesOf(question, desk),
      // A quick Enter must not approve what even --force would not allow.
      marked: personOnly ? "n" : "y",
    });
    switch (reply) {
      case "once":
        return { type: "yes" };
      case "session":
        return rules.length > 0 ? { type: "yes", grant: "run" } : { type: "yes", always: true };
      case "always":
      case "wider": {
        const wider = reply === "wider";
        const scope = await askScope(wider ? widerRules : rules, signal, desk);
        if (scope) return { type: "yes", grant: scope, ...(wider && { wider }) };
        break;
      }
      case "sandbox":
        return { type: "yes", grant: "sandbox" };
      case "no": {
        const reason = linePanel(desk.palette, { title: "No:", hint: "what should it do instead? (or just enter)" });
        const words = await openUntil(signal, reason, desk);
        if (words === undefined) break; // the user cancelled the message: keep the question open
        return { type: "no", reason: words.trim() ? `The user said no: ${words.trim()}` : "The user said no." };
      }
      default:
        return undefined;
    }
  }
  return undefined;
}

function choicesOf(question: PermissionQuestion, desk: Desk): Choice<Reply>[] {
  const { rules = [], widerRules = [], offersSandbox, personOnly } = question;
  const choices: Choice<Reply>[] = [{ key: "y", label: "once", result: "once" }];
  if (!personOnly) {
    choices.push({ key: "s", label: "this session", result: "session" });
    if (rules.length > 0) choices.push({ key: "a", label: `always: ${rules.join(", ")}`, result: "always" });
    if (widerRules.length > 0)
      choices.push({ key: "A", label: `wider: ${widerRules.join(", ")}`, result: "wider", isBeside: true });
  }
  if (offersSandbox)
    choices.push({
      key: "b",
      label: "run commands in the sandbox without asking, in this project",
      brief: "sandbox, unasked",
      result: "sandbox",
    });
  choices.push({ key: "n", label: "no, and say why", result: "no" });
  const explained = question.needs[0];
  if (explained)
    choices.push({ key: "e", label: "explain", isBeside: true, press: () => void explain(question, desk) });
  choices.push({
    key: "d",
    label: "details",
    showsAll: true,
    isBeside: true,
    press: () => void showDetails(question, desk),
  });
  return choices;
}

/** Asks where to save a rule, and shows the rule before saving it. */
function askScope(rules: readonly string[], signal: AbortSignal, desk: Desk): Promise<"project" | "user" | undefined> {
  const { palette } = desk;
  return askByKey<"project" | "user">(desk, signal, {
    body: () => [
      palette.bold("  From now on, without asking:"),
      ...rules.map((rule) => join(blanks(9), palette.plain(rule))),
    ],
    choices: [
      { key: "p", label: "in this project (.cursor/cli.json)", result: "project" },
      { key: "u", label: "everywhere (cli-config.json)", result: "user" },
    ],
    onEscape: "back",
  });
}

function questionBody(
  { tool, needs, reasons }: PermissionQuestion,
  { palette, env }: Desk,
  columns: number,
): Painted[] {
  const [first, ...more] = needs;
  const home = homeDir(env);
  const target = linesOf(first?.kind === "Shell" ? first.target : shortPath(first?.target ?? "", home));
  const indent = bodyIndent(columns);
  const label = join(palette.plain("  "), palette.bold(cardName(tool)));
  const name = padded(label, Math.max(indent, widthOf(label) + 2));
  const wants = palette.warn("wants permission");
  // Show the whole target: beside the name, or below it if there is not enough room.
  const isBeside = widthOf(name) + widthOf(palette.plain(target[0]!)) + widthOf(wants) + 4 <= columns;
  const head = isBeside ? join(name, palette.plain(target[0]!), blanks(4), wants) : join(name, wants);
  // Omit a reason that only repeats the target, which may be shortened.
  const repeated = ` ${showText(first?.target ?? "")}.`;
  const why = reasons.map((reason) => {
    const line = reason.replace(/\s*\n\s*/g, " ");
    return palette.warn(line.endsWith(repeated) ? `${line.slice(0, -repeated.length)} it.` : line);
  });
  const where = first?.cwd === undefined ? [] : [palette.soft(`in ${shortPath(first.cwd, home)}.`)];
  const reasonLine = [...where, ...why].reduce(
    (line, part) => join(line, blanks(line === "" ? indent : 1), part),
    nothing,
  );
  // Every line written by the model starts with a bar, so that it cannot be mistaken for one of the reasons.
  const rest = [
    ...target.slice(isBeside ? 1 : 0),
    ...more.flatMap(({ kind, target: each }) => linesOf(`${kind}: ${each}`)),
  ];
  const bar = join(blanks(indent), palette.soft("│ "));
  return [
    head,
    ...rest.flatMap((line) => wrap(join(bar, palette.plain(line)), columns, bar)),
    ...wrap(reasonLine, columns, blanks(indent)),
  ];
}

function diffOf({ diff, needs }: PermissionQuestion, { palette, rendering }: Desk, columns: number): Painted[] {
  const indent = bodyIndent(columns);
  if (diff === undefined) return [];
  return indented(
    diffLines(diff, { path: needs[0]?.target ?? "", palette, rendering, width: columns - indent, most: 40 }),
    indent,
  );
}

/** Shows the output of `permissions explain` for each need. */
async function explain({ needs }: PermissionQuestion, desk: Desk): Promise<void> {
  const texts = await Promise.all(
    needs.map(({ kind, target }) => desk.command(["permissions", "explain", `${kind}: ${target}`])),
  );
  const { plain } = desk.palette;
  const lines = linesOf(texts.map(({ text }) => text.trimEnd()).join("\n\n"));
  await desk.page("Why you are asked", (columns) =>
    lines.flatMap((line) => {
      // What is wrapped stays in its branch of the tree, below its own text.
      const [lead] = /^[ │├└─]*(?:\w+ {2,})?/.exec(line)!;
      return wrap(plain(line), columns, plain(lead.replace(/[├]/g, "│").replace(/[^│]/g, " ")));
    }),
  );
}

async function showDetails({ tool, args, needs, reasons, diff }: PermissionQuestion, desk: Desk): Promise<void> {
  const { palette, rendering } = desk;
  const parts = [
    ...needs.map(({ kind, target, cwd }) => `${kind}: ${target}${cwd === undefined ? "" : `\nin ${cwd}`}`),
    reasons.join("\n"),
    JSON.stringify(isObject(args) ? withoutDerived(args) : args, null, 2),
  ];
  await desk.page(cardName(tool), (columns) => [
    ...parts.flatMap((part) => [
      ...linesOf(part).flatMap((line) => wrap(palette.plain(line), columns)),
      palette.plain(""),
    ]),
    ...(diff === undefined ? [] : diffLines(diff, { palette, rendering, width: columns, most: 10_000, rows: 200 })),
  ]);
}

/** Removes arguments that the program derived from the command itself. */
function withoutDerived({
  simpleCommands: _words,
  parsingResult: _parsed,
  toolCallId: _id,
  ...args
}: JsonObject): JsonObject {
  return args;
}
