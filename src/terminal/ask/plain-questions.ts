// Asks yes/no questions: whether to trust a folder, allow the project's servers and hooks, or accept a plan.
import type { Answer, HooksQuestion, PlanQuestion, ServerQuestion, TrustQuestion } from "../../protocol/run.ts";
import { homeDir } from "../../store/config-dir.ts";
import { shortPath } from "../../text/short-path.ts";
import type { Desk } from "../desk.ts";
import { blanks, join, linesOf, type Painted, wrap } from "../painted.ts";
import { linePanel } from "../panels/line.ts";
import { markdownLines } from "../transcript/markdown.ts";
import { askByKey, type KeyQuestion, openUntil } from "./question-panel.ts";

type Asked = Promise<Answer | undefined>;

const yes: Answer = { type: "yes" };
const no: Answer = { type: "no", reason: "The user said no." };

const fromNowOn: Pick<KeyQuestion<Answer>, "choices" | "marked"> = {
  choices: [
    { key: "y", label: "yes, from now on", result: yes },
    { key: "n", label: "no", result: no },
  ],
  marked: "n",
};

export function askTrust({ workspace }: TrustQuestion, signal: AbortSignal, desk: Desk): Asked {
  const { palette } = desk;
  return askByKey(desk, signal, {
    body: (columns) => [
      palette.bold("  Do you trust this directory?"),
      ...withBars(workspace, desk, columns),
      ...wrappedLines("The agent reads and changes files here, and follows the project's instructions.", desk, columns),
    ],
    choices: [
      { key: "y", label: "yes, this time", result: { type: "yes", grant: "run" } },
      { key: "a", label: "yes, always", result: yes },
      { key: "n", also: ["q"], label: "no, quit", result: no },
    ],
  });
}

export function askServer({ name, file, start }: ServerQuestion, signal: AbortSignal, desk: Desk): Asked {
  return askByKey(desk, signal, {
    body: (columns) => [
      desk.palette.bold(`  Start the MCP server ${name} from now on?`),
      ...withBars(start, desk, columns),
      ...wrappedLines(`${file} is new or has changed.`, desk, columns),
    ],
    ...fromNowOn,
  });
}

export function askHooks({ files }: HooksQuestion, signal: AbortSignal, desk: Desk): Asked {
  return askByKey(desk, signal, {
    body: (columns) => [
      desk.palette.bold("  Run these hooks from now on?"),
      ...files.flatMap(({ file, hooks }) => [
        ...wrappedLines(`${file} is new or has changed.`, desk, columns),
        ...hooks.flatMap(({ event, command, prompt }) =>
          withBars(`${event}: ${command ?? `(asks a model) ${prompt}`}`, desk, columns),
        ),
      ]),
    ],
    ...fromNowOn,
  });
}

export async function askPlan({ name, text, file }: PlanQuestion, signal: AbortSignal, desk: Desk): Asked {
  const { palette, rendering } = desk;
  const place = `to be saved as ${shortPath(file, homeDir(desk.env))}`;
  const plan = (width: number) => markdownLines(text, width, { palette, rendering });
  while (!signal.aborted) {
    const reply = await askByKey<"yes" | "no">(desk, signal, {
      body: (columns) => [palette.bold(`  Plan: ${name}`), ...wrappedLines(place, desk, columns)],
      more: (columns) => plan(columns - 6).map((line) => join(blanks(4), palette.soft("│ "), line)),
      choices: [
        { key: "y", label: "yes, do it", result: "yes" },
        { key: "n", label: "keep planning, and say what to change", result: "no" },
        { key: "d", label: "read all of it", showsAll: true, press: () => void desk.page(name, plan) },
      ],
      marked: "n",
    });
    if (reply === "yes") return yes;
    if (reply === undefined) return undefined;
    const wish = linePanel(palette, { title: "Keep planning:", hint: "what should be different? (or just enter)" });
    const words = await openUntil(signal, wish, desk);
    if (words !== undefined) return words.trim() === "" ? no : { type: "no", reason: words.trim() };
  }
  return undefined;
}

/** Starts each line of untrusted text with a bar, so that it cannot be mistaken for the program's own words. */
function withBars(text: string, { palette }: Desk, columns: number): Painted[] {
  const bar = join(blanks(4), palette.soft("│ "));
  return linesOf(text.trim()).flatMap((line) => wrap(join(bar, palette.plain(line)), columns, bar));
}

function wrappedLines(text: string, { palette }: Desk, columns: number): Painted[] {
  return wrap(join(blanks(4), palette.soft(text)), columns, blanks(4));
}
