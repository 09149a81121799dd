// Races in the sandbox: real runs whose commands look into folders that another command of theirs exchanges with links, while other
// programs' sockets come and go. Whatever is read or changed that rules deny is a leak; a command that does not start is a failure.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeSandboxFixture, type SandboxFixture, write } from "./sandbox-fixture.ts";

/** Another build can be put under the same test. */
const cli = process.env["COURSER_CLI"] ?? resolve(import.meta.dirname, "../../dist/courser.cjs");

export type SandboxRaceSummary = { commands: number; leaks: string[]; failures: string[] };

/** Exchanges what it can, for as long as it is let: the folders that a rule names must not be among it. */
const swap = `
while :; do
  for folder in open denied closed nested; do
    mv -T $folder spare-$folder && ln -s "$TARGET" $folder
    rm -f $folder; mv -T spare-$folder $folder
  done
done 2> /dev/null`;

const look = `
cat open/k.txt denied/k.txt ignored/k.pem
for folder in denied ignored; do mv -T $folder x; cat x/k.txt x/k.pem; mv -T x $folder; done
cp -r denied c; cat c/k.txt; rm -rf c; ln denied/k.txt h; cat h; rm -f h
grep -rs "$MARK_OF_IT" ~/.cursor ~/.config
mv -T closed y; cp -r y closed; echo new > closed/w.txt; echo new > nested/.vscode/settings.json
mkdir .vscode; echo new > .vscode/tasks.json; echo new > .git/hooks/pre-commit; touch "$OUTSIDE"
echo over`;

/** Sockets that live for some milliseconds, each in a folder of its own. */
const sockets = `
import os, random, shutil, socket, time
while True:
  folder = f"d{random.random()}"; os.mkdir(folder)
  with socket.socket(socket.AF_UNIX) as one:
    one.bind(f"{os.getcwd()}/{folder}/s"); time.sleep(random.random() / 50)
  shutil.rmtree(folder)`;

/** Each round is a run with one command in the background and some after each other. */
export async function raceSandbox(rounds: number, steps = 8): Promise<SandboxRaceSummary> {
  const summary: SandboxRaceSummary = { commands: 0, leaks: [], failures: [] };
  for (let round = 0; round < rounds; round++) {
    const fixture = makeSandboxFixture();
    const churn = startChurn(join(fixture.home, "churn"));
    try {
      await playRound(fixture, { round, steps }, summary);
    } finally {
      churn.kill("SIGKILL");
      fixture.remove();
    }
  }
  return summary;
}

function startChurn(folder: string): ChildProcess {
  mkdirSync(folder);
  return spawn("python3", ["-c", sockets], { cwd: folder, stdio: "ignore" });
}

async function playRound(
  { base, workspace, home, configDir }: SandboxFixture,
  { round, steps }: { round: number; steps: number },
  summary: SandboxRaceSummary,
): Promise<void> {
  const mark = `quagga-${round}-${Math.random().toString(36).slice(2)}`;
  const outside = join(home, "outside");
  const targets = [configDir, "/etc", join(workspace, "denied"), home];
  const fill = (script: string) =>
    `TARGET=${targets[round % targets.length]} OUTSIDE=${outside} MARK_OF_IT=${mark}\n${script}\n`;
  write(workspace, {
    ...{ "denied/k.txt": mark, "ignored/k.pem": mark, "closed/w.txt": "old", "open/k.txt": "open" },
    ...{
      "nested/.vscode/settings.json": "old",
      ".cursorignore": "*.pem\n",
      "swap.sh": fill(swap),
      "look.sh": fill(look),
    },
  });
  const permissions = { deny: ["Read(denied/k.txt)", "Write(closed/w.txt)"] };
  write(configDir, { "cli-config.json": JSON.stringify({ version: 1, permissions }), "chats/old": mark });
  const calls = [
    { command: "bash swap.sh", isBackground: true },
    // Each with words of its own: the same call with the same result, again and again, would end the run.
    ...Array.from({ length: steps }, (_, step) => ({ command: `bash look.sh ${step}` })),
  ];
  const script = join(base, "script.json");
  writeFileSync(
    script,
    JSON.stringify([...calls.map((args) => ({ calls: [{ name: "Shell", args }] })), { text: "done" }]),
  );
  const hooks = readdirSync(join(workspace, ".git/hooks"));

  const results = (await run(script, { workspace, home })).slice(1);
  summary.commands += results.length;
  for (const result of results) {
    const said = JSON.stringify(result);
    if (said.includes(mark)) summary.leaks.push(`read: ${said.slice(0, 300)}`);
    if (!said.includes("over\\\\n") && !said.includes("over\\n")) summary.failures.push(said.slice(0, 300));
  }
  if (results.length !== steps) summary.failures.push(`${results.length} of ${steps} commands have an end`);
  for (const [path, before] of Object.entries({ "closed/w.txt": "old", "nested/.vscode/settings.json": "old" }))
    if (textAt(join(workspace, path)) !== before) summary.leaks.push(`changed: ${path}`);
  if (readdirSync(join(workspace, ".git/hooks")).length !== hooks.length) summary.leaks.push("changed: .git/hooks");
  const shown = [...readdirSync(workspace), ...readdirSync(home)].filter((name) =>
    /^(\.vscode|\.envrc|outside)$/.test(name),
  );
  summary.leaks.push(...shown.map((name) => `made: ${name}`));
}

async function run(script: string, { workspace, home }: { workspace: string; home: string }): Promise<unknown[]> {
  const flags = ["-p", "--trust", "--output-format", "stream-json", "--model", `script:${script}`];
  const child = spawn(process.execPath, [cli, ...flags, "go"], {
    cwd: workspace,
    env: { PATH: process.env["PATH"], HOME: home },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await new Promise((settle) => child.on("close", settle));
  const lines = output
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const ends = lines.filter((line) => line.type === "tool_call" && line.subtype === "completed");
  return ends.map((line) => Object.values<any>(line.tool_call)[0].result);
}

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
