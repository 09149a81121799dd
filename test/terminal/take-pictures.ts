// `npm run long -- pictures`: the main screens of the terminal, from real runs of the built program in a pty, as docs/pictures/terminal-*.svg.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createWorkspace } from "../support/run-cli.ts";
import { drawScreen, themes } from "./picture.ts";
import { openCli, type Pty } from "./pty.ts";

const docs = resolve(import.meta.dirname, "../../docs/pictures");
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

const store = `import { createWriteStream } from "node:fs";

export async function store(request, path) {
  const out = createWriteStream(path);
  request.pipe(out);
}
`;

const edit = {
  name: "Edit",
  args: {
    path: "src/upload/store.ts",
    edits: [
      {
        oldText: "  request.pipe(out);",
        newText: "  await pipeline(request, out, { signal });\n  await out.close();",
      },
    ],
  },
};
const shell = (command: string) => ({ name: "Shell", args: { command } });
const slowTests =
  "for test in 'a small file' 'an empty file' 'a large file' 'two files at once'; do echo \"✓ uploads $test\"; sleep 0.4; done; sleep 20";

const work = [
  {
    steps: [
      { thinking: "A race, perhaps." },
      { delayMs: 900 },
      { text: "The failure is a race: the server answers before the temporary file is flushed.\n\n" },
      { call: { name: "Grep", args: { pattern: "createWriteStream", path: "src/" } } },
      { call: { name: "Read", args: { path: "src/upload/store.ts" } } },
    ],
  },
  { calls: [edit] },
];

const answer = `## What changed

- \`store()\` **waits** for the whole upload, and closes the file
- the test for an empty file is new

\`\`\`ts
await pipeline(request, out, { signal }); // rejects when either side fails
\`\`\`

| test | before | after |
|---|---|---|
| small file | 9 of 10 | 50 of 50 |
| empty file | – | 50 of 50 |
`;

type Picture = {
  name: string;
  theme: keyof typeof themes;
  rows?: number;
  columns?: number;
  args?: readonly string[];
  /** Without one, the offline model answers. */
  script?: unknown;
  act(pty: Pty): Promise<void>;
};

const prompt = "The upload test fails about once in ten runs. Find out why and fix the cause.";
const send = (pty: Pty, text: string) => pty.type(`${text}\r`);
const ready = (pty: Pty) => pty.waitFor("Ask, or type /");
const force = ["--force", "--trust"];

const pictures: readonly Picture[] = [
  {
    name: "working",
    theme: "dark",
    args: force,
    rows: 29,
    script: [...work, { calls: [shell(slowTests)] }, { text: "Done." }],
    async act(pty) {
      await ready(pty);
      send(pty, prompt);
      await pty.waitFor("two files at once", { timeoutMs: 20_000 });
      send(pty, "and add a test for the empty file");
      await pty.waitFor("queued: 1");
    },
  },
  {
    name: "permission",
    theme: "light",
    rows: 20,
    args: ["--trust"],
    script: [
      { text: "I will run the test fifty times.\n\n", calls: [shell("npm test -- upload --repeat 50")] },
      { text: "Done." },
    ],
    async act(pty) {
      await ready(pty);
      send(pty, "Is it fixed?");
      await pty.waitFor("wants permission");
    },
  },
  {
    name: "answer",
    theme: "light",
    rows: 36,
    args: force,
    script: [...work, { text: answer }],
    async act(pty) {
      await ready(pty);
      send(pty, prompt);
      await pty.waitFor(/Done in/, { timeoutMs: 20_000 });
    },
  },
  {
    name: "commands",
    theme: "dark",
    rows: 15,
    args: force,
    script: [{ text: "Hello." }],
    async act(pty) {
      await ready(pty);
      await pty.waitFor(/^ courser {2}/m);
      pty.type("/");
      await pty.waitFor("/clear");
    },
  },
  {
    name: "context",
    theme: "light",
    rows: 22,
    args: force,
    script: [...work, { text: "Fixed." }],
    async act(pty) {
      await ready(pty);
      send(pty, "Fix the race.");
      await pty.waitFor(/Done in/, { timeoutMs: 20_000 });
      send(pty, "/context");
      await pty.waitFor("of 128k tokens");
    },
  },
  {
    name: "first-run",
    theme: "dark",
    rows: 8,
    args: ["--trust"],
    async act(pty) {
      await pty.waitFor("No API key is set");
    },
  },
];

export async function main(argv: readonly string[]): Promise<number> {
  mkdirSync(docs, { recursive: true });
  const wanted = pictures.filter(({ name }) => argv.length === 0 || argv.includes(name));
  for (const { name, theme, rows = 26, columns = 96, args = [], script, act } of wanted) {
    const workspace = createWorkspace();
    const folder = join(workspace.env["HOME"]!, "api");
    mkdirSync(join(folder, "src/upload"), { recursive: true });
    writeFileSync(join(folder, "src/upload/store.ts"), store);
    const file = join(workspace.path, "../script.json");
    if (script) writeFileSync(file, JSON.stringify(script));
    execFileSync("git", ["init", "-q", "-b", "main"], { cwd: folder });
    const pty = openCli(workspace, [...(script ? ["--model", `script:${file}`] : []), ...args], {
      cwd: folder,
      columns,
      rows,
      env: { COLORTERM: "truecolor", COLORFGBG: theme === "dark" ? "15;0" : "0;15" },
    });
    try {
      await act(pty);
      await pause(700);
      writeFileSync(join(docs, `terminal-${name}.svg`), drawScreen(pty.terminal, themes[theme]));
      console.log(`docs/pictures/terminal-${name}.svg`);
    } finally {
      pty.kill();
      await pty.ended;
      workspace.remove();
    }
  }
  return 0;
}
