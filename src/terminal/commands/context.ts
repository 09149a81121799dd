// Commands about the model's context, the costs, and side questions.
import { resolve } from "node:path";
import { realDirectory } from "../../run/real-directory.ts";
import { dollars, runningFor, tokenCount } from "../../view/numbers.ts";
import type { Desk } from "../desk.ts";
import { join, linesOf, nothing, type Painted, widthOf } from "../painted.ts";
import { spinner } from "../transcript/card.ts";
import { markdownLines } from "../transcript/markdown.ts";
import type { SlashCommand } from "./command.ts";
import { instructionLines } from "./project.ts";
import { reopen } from "./resume-chat.ts";

export const contextCommands: readonly SlashCommand[] = [
  { name: "context", help: "What fills the context window", run: showContext },
  { name: "usage", aliases: ["cost"], help: "Tokens and cost of this session", run: showUsage },
  {
    name: "summarize",
    aliases: ["compress", "compact"],
    help: "Compact the conversation",
    run: summarize,
  },
  {
    name: "btw",
    aliases: ["side"],
    operands: "<question>",
    help: "Ask a side question that is not added to the conversation",
    isBeside: true,
    run: askAside,
  },
  {
    name: "add-dir",
    operands: "<path>",
    help: "Add another directory to the workspace",
    needsIdle: true,
    run: addDirectory,
  },
];

async function summarize(desk: Desk): Promise<void> {
  const { conversation } = desk;
  await conversation.refresh();
  const before = conversation.info.context?.used ?? 0;
  desk.setLive(waitingLine(desk, "Summarizing"));
  await conversation.run?.compact().finally(() => desk.setLive(undefined));
  await conversation.refresh();
  const after = conversation.info.context?.used ?? 0;
  const [now, then] = [after, before].map(tokenCount);
  desk.say(
    after >= before || now === then
      ? `It cannot be made shorter: ${now} tokens.`
      : `The model now gets ${now} tokens instead of ${then}.`,
  );
}

/** Returns a function that renders the line which is shown while waiting for a model outside a turn. */
function waitingLine({ palette }: Desk, doing: string): () => readonly Painted[] {
  const since = Date.now();
  return () => {
    const now = Date.now();
    return [nothing, join(palette.accent(spinner(now)), palette.soft(` ${doing} · ${runningFor(now - since)}`))];
  };
}

async function showContext(desk: Desk): Promise<void> {
  const { palette, conversation } = desk;
  await conversation.refresh();
  const use = conversation.info.context;
  if (!use) return desk.say("Nothing has been sent to the model yet.");
  const parts = [
    { name: "system", tokens: use.system, paint: palette.accent, sign: "█" },
    { name: "tools", tokens: use.tools, paint: palette.soft, sign: "▓" },
    { name: "messages", tokens: use.messages, paint: palette.good, sign: "▒" },
  ];
  const barWidth = Math.max(4, Math.min(40, desk.size.columns - 26));
  const cells = parts.map(({ tokens, paint, sign }) =>
    paint(sign.repeat(Math.max(tokens > 0 ? 1 : 0, Math.round((tokens / use.window) * barWidth)))),
  );
  const filled = join(...cells);
  const bar = join(filled, palette.soft("·".repeat(Math.max(0, barWidth - widthOf(filled)))));
  const percent = (tokens: number) => `${((tokens / use.window) * 100).toFixed(1).padStart(5)} %`;
  const line = (sign: Painted, name: string, tokens: number) =>
    join(
      palette.plain("  "),
      sign,
      palette.plain(` ${name.padEnd(9)} ${tokenCount(tokens).padStart(7)}  `),
      palette.soft(percent(tokens)),
    );
  desk.commit([
    join(palette.plain("  "), bar, palette.soft(` ${tokenCount(use.used)} of ${tokenCount(use.window)} tokens`)),
    ...parts.map(({ name, tokens, paint, sign }) => line(paint(sign), name, tokens)),
    line(palette.plain(" "), "free", Math.max(0, use.window - use.used)),
  ]);
  const files = await instructionLines(desk);
  if (files.length > 0) desk.show(files.join("\n"));
}

async function showUsage(desk: Desk): Promise<void> {
  const { palette, conversation } = desk;
  await conversation.refresh();
  const { tokens, context, model } = conversation.info;
  const cost = context?.costUsd;
  const rows = [
    ["model", model],
    ["turns", String(conversation.turn)],
    ["tokens in", tokens.input.toLocaleString("en")],
    ["tokens out", tokens.output.toLocaleString("en")],
    ["cost", cost === undefined ? "not known for this model" : dollars(cost)],
    ["context", context ? `${tokenCount(context.used)} of ${tokenCount(context.window)} tokens` : "empty"],
  ] as const;
  desk.commit(rows.map(([name, value]) => join(palette.soft(`  ${name.padEnd(11)}`), palette.plain(value))));
}

async function askAside(desk: Desk, question: string): Promise<void> {
  if (question === "") return desk.complain("A question is missing: /btw <question>");
  desk.setLive(waitingLine(desk, "btw: asking"));
  const answer = await desk.conversation.run?.aside(question).finally(() => desk.setLive(undefined));
  const { palette, rendering, size } = desk;
  desk.commit([
    ...linesOf(question).map((line) => palette.soft(`btw › ${line}`)),
    nothing,
    ...markdownLines(answer ?? "", Math.min(100, size.columns), { palette, rendering }),
  ]);
}

async function addDirectory(desk: Desk, path: string): Promise<void> {
  if (path === "") return desk.complain("A path is missing: /add-dir <path>");
  const { request } = desk.conversation;
  const directory = realDirectory(
    resolve(request.workspace, path.replace(/^~(?=\/|$)/, desk.env["HOME"] ?? "~")),
    "/add-dir",
  );
  const roots = [...new Set([...(request.roots ?? []), directory])];
  if (await reopen(desk, { ...request, roots })) desk.say(`Added ${directory} to the workspace.`);
}
