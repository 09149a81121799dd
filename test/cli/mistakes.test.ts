// What 152 mistakes are answered with: messages.txt, for a person to read in one go. `UPDATE=1` writes it anew.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { cli, createWorkspace, repository, type Workspace } from "../support/run-cli.ts";
import { type Mistake, mistakes } from "./mistakes/list.ts";

const golden = join(repository, "test/cli/mistakes/messages.txt");

const header = `What people type by mistake, and what they are told. Written by test/cli/mistakes.test.ts (UPDATE=1).
Left out: "Try 'courser --help'." behind every message of exit code 2.
`;

it("for each mistaken command line, the CLI prints the message listed in messages.txt", {
  timeout: 180_000,
}, async () => {
  const all = Object.entries(mistakes).flatMap(([title, list]) => list.map((mistake) => ({ title, mistake })));
  expect(all).toHaveLength(152);
  const messages = new Map<Mistake, string>();
  const waiting = all.map(({ mistake }) => mistake);
  const work = async () => {
    for (let mistake = waiting.shift(); mistake; mistake = waiting.shift())
      messages.set(mistake, await messageOf(mistake));
  };
  await Promise.all(Array.from({ length: 4 }, work));
  const sections = Object.entries(mistakes).map(([title, list]) =>
    [`\n== ${title} ==`, ...list.map((mistake) => messages.get(mistake)!)].join("\n\n"),
  );
  const text = `${header}${sections.join("\n")}\n`;
  if (process.env["UPDATE"]) writeFileSync(golden, text);
  expect(text).toBe(readFileSync(golden, "utf8"));
});

async function messageOf(mistake: Mistake): Promise<string> {
  using workspace = createWorkspace(mistake.files);
  for (const [name, text] of Object.entries(mistake.config ?? {})) {
    mkdirSync(dirname(join(workspace.config, name)), { recursive: true });
    writeFileSync(join(workspace.config, name), text);
  }
  const { args, env, stdin } = mistake;
  // Under its other name, which every message has to use.
  const name = join(workspace.home, "../cursor-agent");
  symlinkSync(cli, name);
  const run = await workspace.run(args, { name, ...(env && { env }), ...(stdin !== undefined && { stdin }) });
  expect(run.stderr + run.stdout, "names the program by another name").not.toMatch(/\bcourser (?:-|[a-z]+\b)/);
  const said = [run.stderr, run.stdout.trim() === "" ? "" : `stdout: ${run.stdout}`]
    .filter((text) => text !== "")
    .join("");
  return [typed(mistake), `exit ${run.exit}`, ...normal(said, workspace)].join("\n");
}

/** What is around it comes first, as one would set it up. */
function typed({ args, env = {}, files = {}, config = {}, stdin, note }: Mistake): string {
  const around = [
    ...(note === undefined ? [] : [`# ${note}`]),
    ...Object.entries(files).map(([name, text]) => `# ${name}: ${text}`),
    ...Object.entries(config).map(([name, text]) => `# ~/.cursor/${name}: ${text}`),
  ];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  const piped = stdin === undefined ? "" : `printf ${quoted(stdin.replaceAll("\n", "\\n"))} | `;
  return [...around, `$ ${piped}${variables.join("")}courser ${args.map(quoted).join(" ")}`].join("\n");
}

function quoted(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : word.includes("'") ? `"${word}"` : `'${word}'`;
}

function normal(text: string, { path, home }: Workspace): string[] {
  return (
    text
      .replaceAll(path, "<workspace>")
      .replaceAll(home, "~")
      .replaceAll("cursor-agent", "courser")
      // What git says where the temporary files are on a file system of their own.
      .replace(/\(or any parent up to mount point .*? not set\)\./s, "(or any of the parent directories): .git")
      .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, "<id>")
      .replace(/[\da-f]{32}/g, "<hash>")
      .split("\n")
      .filter((line) => line.trim() !== "" && !line.startsWith("Try '"))
      .slice(0, 14)
  );
}
