// A day with the program: what each line of lines.ts prints, as in said.txt, for a person to read in one go. Delete it to have it written anew.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { killAllWithHome } from "../../support/at-exit.ts";
import { createWorkspace, repository, type Workspace } from "../../support/run-cli.ts";
import { day, type Line } from "./lines.ts";

it("each prompt and command of a scripted day prints the answer listed in said.txt", {
  timeout: 240_000,
}, async () => {
  const workspace = createWorkspace({ ".gitignore": "script.json\n", "README.md": "# A project\n" });
  try {
    cpSync(join(repository, "test/support/mcp-server.mjs"), join(workspace.path, "tools.mjs"));
    const git = (...args: string[]) => execFileSync("git", args, { cwd: workspace.path });
    git("init", "--quiet", "--initial-branch", "main");
    git("add", ".");
    git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "all");
    const names = new Names();
    const parts: string[] = [];
    for (const [title, lines] of Object.entries(day)) {
      parts.push(`== ${title} ==`);
      for (const line of lines) parts.push(await said(line, workspace, names));
    }
    await expect(`${parts.join("\n\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "said.txt"));
  } finally {
    killAllWithHome(workspace.home); // the service of the background runs
    workspace.remove();
  }
});

async function said({ args, stdin, env, files = {} }: Line, workspace: Workspace, names: Names): Promise<string> {
  for (const [name, text] of Object.entries(files)) {
    const file = name.startsWith("~/") ? join(workspace.config, name.slice(2)) : join(workspace.path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const words = args.map((arg) =>
    arg === "#run" ? names.run : arg.replace(/^#(\d+)$/, (_, number) => names.chats[Number(number) - 1]!),
  );
  const run = await workspace.run(words, { ...(stdin !== undefined && { stdin }), ...(env && { env }) });
  expect(run.stderr, args.join(" ")).not.toContain("[INTERNAL]");
  const shown = (text: string) => names.hidden(text, workspace);
  return [`$ courser ${args.map(quoted).join(" ")}`, `[${run.exit}]`, shown(run.stdout), shown(run.stderr)]
    .filter((part) => part !== "")
    .join("\n");
}

function quoted(word: string): string {
  return /^[\w#:./=@-]+$/.test(word) ? word : JSON.stringify(word);
}

/** What differs from one day to the next has a name instead: ids in the order in which they are seen, times, places. */
class Names {
  readonly chats: string[] = [];
  /** The newest run in the background. */
  run = "";
  readonly #digests: string[] = [];

  hidden(text: string, { path, home }: Workspace): string {
    this.run = /^run-[0-9a-f-]{36}$/m.exec(text)?.[0] ?? this.run;
    return text
      .replaceAll(path, "WORK")
      .replaceAll(home, "~")
      .replaceAll(repository, "PROGRAM")
      .replaceAll(homedir(), "HOME")
      .replace(
        /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
        (id) => `#${this.#numberOf(this.chats, id)}`,
      )
      .replace(/\b[0-9a-f]{7,64}\b(?=[^\w]|$)/g, (digest) =>
        /^\d+$/.test(digest) ? "N" : `digest-${this.#numberOf(this.#digests, digest)}`,
      )
      .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?/g, "TIME")
      .replace(/\b\d{13}\b/g, "MS")
      .replace(/\b\d+(\.\d+)? m?s\b/g, "N s")
      .replace(/\b\d+(\.\d+)? (B|kB|KiB|MB)\b/g, "N $2")
      .replace(/\bpid \d+/g, "pid N")
      .replace(/(?<!-)\b(?:(?:just )?now(?= {2}| ·|$)|(?:N|\d+) \w+ ago\b|N s(?= {2}| ·))/gm, "AGO")
      .replace(/("(?:\w*Ms|duration_\w+|created\w*|updated\w*)": ?)[\d.]+/g, "$1N")
      .trimEnd();
  }

  #numberOf(list: string[], id: string): number {
    if (!list.includes(id)) list.push(id);
    return list.indexOf(id) + 1;
  }
}
