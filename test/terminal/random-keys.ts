// Random keys, pastes and resizes against the built program, from a seed; then what it left: every answer once in the scrollback.
//   npm run long -- keys --keys 20000 --seed 7
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findChat } from "../../src/store/chats/find-chat.ts";
import { listChats } from "../../src/store/chats/list-chats.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { configDir } from "../../src/store/config-dir.ts";
import { randomNumbers } from "../stress/random-run.ts";
import { createWorkspace } from "../support/run-cli.ts";
import { openCli } from "./pty.ts";

const letters = "abcdefghijklmnopqrstuvwxyz ABC.,;()[]{}'\"0123456789@?~-+=<>|éü日本語한국";

/**
 * Without what leaves (Ctrl+D, Ctrl+C twice), suspends, prints everything again (Ctrl+L, going back), or runs commands (`!`, `/`):
 * those have tests of their own.
 */
const sequences: readonly string[] = [
  ..."\x01\x02\x05\x06\x0a\x0b\x0e\x10\x12\x13\x14\x15\x16\x17\x18\x19\x1f\x7f",
  "\x07", // the editor, which is `true`
  "\x0fq", // the pager, and out of it
  "\x0fjj/answer\rnnNrq",
  ..."ABCDFHZ".split("").map((letter) => `\x1b[${letter}`),
  ..."ABCD".split("").flatMap((letter) => [2, 3, 5].map((modifier) => `\x1b[1;${modifier}${letter}`)),
  "\x1b[3~",
  "\x1b[5~",
  "\x1b[6~",
  "\x1bOP",
  "\x1b[15~",
  "\x1bb",
  "\x1bf",
  "\x1bd",
  "\x1by",
  "\x1b\x7f",
  "\x1b\r",
  "\x1b[13;2u",
  "\x1b[97;5u",
  "\x1b[27;5;13~",
  "\x1b[200~pasted\nin\nlines\x1b[201~",
  `\x1b[200~${"a long paste\n".repeat(40)}\x1b[201~`,
  "\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
  "\x1b[?62;22c",
  "\x1b[<0;10;10M",
  "\x1b[12;40R",
  "👩‍💻e\u0301",
];

/**
 * What stands in the scrollback not at all, or more than once. At a load where frames and sizes cross, the screen writes again what
 * a frame may have erased: a doubled line is the price of losing none.
 */
export type RandomKeys = { answers: number; lost: string[]; doubled: string[]; exit: number; keys: number };

export async function playRandomKeys({ seed, keys }: { seed: number; keys: number }): Promise<RandomKeys> {
  const random = randomNumbers(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const workspace = createWorkspace({ "a.txt": "a\n", "src/b.ts": "export const b = 1;\n" });
  const replies = Array.from({ length: 4 * keys }, (_, index) =>
    index % 3 === 0
      ? { text: `Looking ${index}.`, calls: [{ name: "Shell", args: { command: `seq 1 ${1 + below(30)}` } }] }
      : { steps: [{ text: `Answer ${index} ` }, { delayMs: below(20) }, { text: `ends here.\n\n` }] },
  );
  const script = join(workspace.path, "../script.json");
  writeFileSync(script, JSON.stringify(replies));
  const pty = openCli(workspace, ["--model", `script:${script}`, "--force", "--trust"], {
    columns: 80,
    rows: 24,
    limitMs: 60_000 + 100 * keys,
    env: { EDITOR: "true" },
  });
  try {
    await pty.waitFor("Ask, or type /");
    for (let pressed = 0; pressed < keys; pressed++) {
      const kind = random();
      if (kind < 0.62) pty.type(letters[below(letters.length)]!);
      else if (kind < 0.72) pty.type("\r");
      else if (kind < 0.95) pty.type(sequences[below(sequences.length)]!);
      else if (kind < 0.97) {
        // Escape and Ctrl+C, with a pause behind them and something else next: twice they mean more.
        pty.type(random() < 0.5 ? "\x1b" : "\x03");
        await pause(60);
        pty.type("x");
      } else pty.resize(30 + below(110), 8 + below(40));
      if (random() < 0.25) await pause(below(12));
    }
    // Out of whatever is open, then out.
    for (const key of ["\x1b", "x", "\x03", "\x1b", "x", "\x03"]) {
      pty.type(key);
      await pause(120);
    }
    pty.resize(100, 30);
    // A turn that was interrupted late gives its queue back to the editor, and a pager may open late: Ctrl+C clears and closes.
    for (let presses = 0; presses < 2; presses++)
      await pty.waitFor(/Ask, or type \//, { timeoutMs: 5_000 }).catch(() => pty.type("\x03"));
    await pty.waitFor(/Ask, or type \//, { timeoutMs: 20_000 }).catch(async (error: Error) => {
      const ended = await Promise.race([pty.ended, pause(100)]);
      throw new Error(`exit ${ended}: ${error.message}\n${JSON.stringify(pty.output().slice(-600))}`);
    });
    await pty.quiet(500);
    const lines = (await pty.scrollback()).map((line) => line.trim());
    pty.type("\x04");
    await pause(100);
    pty.type("\x04");
    const exit = await pty.ended;
    const config = configDir(workspace.env);
    const [chat] = listChats(config, { workspace: workspace.path });
    const events = chat ? readChat(findChat(config, chat.id, workspace.path, "courser"), { events: true }).events : [];
    const said = events.flatMap(({ event }) => (event.type === "text_end" ? [event.text.trim()] : []));
    const whole = said.filter((text) => /^(Answer \d+ ends here|Looking \d+)\.$/.test(text));
    const count = (text: string) => lines.filter((line) => line === text).length;
    const lost = whole.filter((text) => count(text) === 0);
    const doubled = whole.filter((text) => count(text) > 1);
    return { answers: whole.length, lost, doubled, exit, keys };
  } finally {
    pty.kill();
    await pty.ended;
    workspace.remove();
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function main(argv: readonly string[]): Promise<number> {
  const value = (name: string, otherwise: number) =>
    argv.includes(name) ? Number(argv[argv.indexOf(name) + 1]) : otherwise;
  const result = await playRandomKeys({ seed: value("--seed", 1), keys: value("--keys", 20_000) });
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  return result.lost.length === 0 && result.doubled.length === 0 && result.exit < 2 ? 0 : 1;
}
