// Commands about what the model is told, what it costs, and questions beside the conversation.
import { resolve } from "node:path";
import { realDirectory } from "../../run/real-directory.ts";
import { dollars, tokenCount } from "../../view/numbers.ts";
import type { Desk } from "../desk.ts";
import { join, linesOf, nothing, type Painted, padded } from "../painted.ts";
import { markdownLines } from "../transcript/markdown.ts";
import type { SlashCommand } from "./command.ts";

export const contextCommands: readonly SlashCommand[] = [
  { name: "context", help: "What fills the model's window", group: "Context", run: showContext },
  { name: "usage", help: "Tokens and cost of this session", group: "Context", run: showUsage },
  {
    name: "summarize",
    aliases: ["compress", "compact"],
    help: "Make the conversation shorter for the model",
    group: "Context",
    async run(desk) {
      await desk.conversation.run?.compact();
      await desk.conversation.refresh();
    },
  },
  {
    name: "btw",
    aliases: ["side"],
    operands: "<question>",
    help: "Ask something beside the conversation, which keeps nothing of it",
    group: "Context",
    run: askAside,
  },
  {
    name: "add-dir",
    operands: "<path>",
    help: "Work in another directory as well",
    group: "Context",
    needsIdle: true,
    run: addDirectory,
  },
  {
    name: "init",
    help: "Write an AGENTS.md for this project",
    group: "Context",
    run: (desk) =>
      desk.submit(
        "Look at this project and write AGENTS.md: what it is, how it is built, tested and run, how its folders fit together, and the conventions that its code follows. Keep it under a page. If there is one already, improve it.",
      ),
  },
  {
    name: "review",
    operands: "[what]",
    help: "Review the changes that are not committed",
    group: "Context",
    run: (desk, rest) =>
      desk.submit(
        `Review ${rest === "" ? "the uncommitted changes of this repository" : rest}: bugs, missed cases, unclear names, missing tests. Look at the code around them too. List what you found by severity, with file and line; change nothing.`,
      ),
  },
];

const barWidth = 40;

async function showContext(desk: Desk): Promise<void> {
  const { palette, conversation } = desk;
  await conversation.refresh();
  const use = conversation.facts.context;
  if (!use) return desk.say("Nothing has been told to a model yet.");
  const parts = [
    { name: "system", tokens: use.system, paint: palette.accent, sign: "█" },
    { name: "tools", tokens: use.tools, paint: palette.soft, sign: "▓" },
    { name: "messages", tokens: use.messages, paint: palette.good, sign: "▒" },
  ];
  const cells = parts.map(({ tokens, paint, sign }) =>
    paint(sign.repeat(Math.max(tokens > 0 ? 1 : 0, Math.round((tokens / use.window) * barWidth)))),
  );
  const bar = padded(join(...cells), barWidth);
  const percent = (tokens: number) => `${((tokens / use.window) * 100).toFixed(1).padStart(5)} %`;
  const line = (sign: Painted, name: string, tokens: number) =>
    join(
      palette.plain("  "),
      sign,
      palette.plain(` ${name.padEnd(9)} ${tokenCount(tokens).padStart(7)}  `),
      palette.soft(percent(tokens)),
    );
  desk.commit([
    nothing,
    join(palette.plain("  "), bar, palette.soft(` ${tokenCount(use.used)} of ${tokenCount(use.window)} tokens`)),
    ...parts.map(({ name, tokens, paint, sign }) => line(paint(sign), name, tokens)),
    line(palette.plain(" "), "free", Math.max(0, use.window - use.used)),
    nothing,
  ]);
}

async function showUsage(desk: Desk): Promise<void> {
  const { tokens, context, model } = desk.conversation.facts;
  const cost = context?.costUsd;
  desk.say(
    `${model}: ${tokenCount(tokens.input)} tokens in, ${tokenCount(tokens.output)} out, ${desk.conversation.turn} turns${cost === undefined ? "; its price is not known" : `, ${dollars(cost)}`}.`,
  );
}

async function askAside(desk: Desk, question: string): Promise<void> {
  if (question === "") return desk.complain("A question is missing: /btw <question>");
  const answer = await desk.conversation.run?.aside(question);
  const { palette, rendering, size } = desk;
  desk.commit([
    ...linesOf(question).map((line) => palette.soft(`btw › ${line}`)),
    nothing,
    ...markdownLines(answer ?? "", Math.min(100, size.columns), { palette, rendering }),
  ]);
}

async function addDirectory(desk: Desk, path: string): Promise<void> {
  if (path === "") return desk.complain("A path is missing: /add-dir <path>");
  const { request, facts } = desk.conversation;
  const directory = realDirectory(
    resolve(request.workspace, path.replace(/^~(?=\/|$)/, desk.env["HOME"] ?? "~")),
    "/add-dir",
  );
  const roots = [...new Set([...(request.roots ?? []), directory])];
  await desk.switchTo({ ...request, roots, chat: { type: "resume", id: facts.chatId ?? "-1" } });
  desk.say(`Works in ${directory} as well.`);
}
