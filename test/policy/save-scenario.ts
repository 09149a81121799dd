// Several processes save into one file at the same time; some are killed if the scenario says so.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { chanceOf } from "../support/chance.ts";

const chance = chanceOf("policy/save-scenario");

const numbers: Record<string, number> = { two: 2, three: 3, four: 4, five: 5, six: 6, eight: 8, ten: 10 };

/** Reads how many processes and rounds are meant from the words of the scenario. */
export async function runSaveScenario(
  scenario: string,
  folder: string,
): Promise<{ alwaysValid: boolean; nothingLost: boolean }> {
  const count =
    numbers[/\b(two|three|four|five|six|eight|ten)\b/i.exec(scenario)?.[1]?.toLowerCase() ?? ""] ??
    Number(/(\d+) (?:[a-z]+ )?(?:processes|writers|sessions)/i.exec(scenario)?.[1] ?? 2);
  const said = /(\d[\d,_]*) (?:rounds|times|saves|approvals|entries)/i.exec(scenario)?.[1];
  const rounds = Number((said ?? "100").replace(/[,_]/g, ""));
  return saveTogether({ folder, processes: count, rounds, killing: /kill|crash/i.test(scenario) });
}

export async function saveTogether(options: {
  folder: string;
  processes: number;
  rounds: number;
  killing: boolean;
}): Promise<{ alwaysValid: boolean; nothingLost: boolean }> {
  const { folder, processes, rounds, killing } = options;
  const file = join(folder, "saved", "cli-config.json");
  const program = await saver(folder);
  const acknowledged: string[] = [];
  const start = (name: string) => {
    const child = spawn(process.execPath, [program, file, name, String(rounds)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let rest = "";
    child.stdout!.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      acknowledged.push(...lines);
    });
    return child;
  };
  const children = Array.from({ length: processes }, (_, index) => start(`p${index}`));
  let alwaysValid = true;
  const watch = setInterval(() => (alwaysValid &&= isValid(file)), 3);
  if (killing) {
    // The first is killed again and again while it saves; the others must neither wait for it nor lose anything.
    for (let index = 0; index < 10; index++) {
      await new Promise((done) => setTimeout(done, 60 + chance() * 80));
      children[0]!.kill("SIGKILL");
      await ended(children[0]!);
      children[0] = start(`k${index}`);
    }
  }
  await Promise.all(children.map(ended));
  clearInterval(watch);
  const saved = new Set(
    (JSON.parse(readFileSync(file, "utf8")) as { permissions: { allow: string[] } }).permissions.allow,
  );
  const complete = killing || saved.size === processes * rounds;
  return {
    alwaysValid: alwaysValid && isValid(file),
    nothingLost: complete && acknowledged.every((entry) => saved.has(entry)),
  };
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((done) => child.on("close", () => done()));
}

function isValid(file: string): boolean {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A program that saves one entry a round and says so when it is saved. */
async function saver(folder: string): Promise<string> {
  const source = resolve(import.meta.dirname, "../../src/store/json-file.ts");
  const outfile = join(folder, "saver.mjs");
  const contents = `
    import { saveJson } from ${JSON.stringify(source)};
    import { writeSync } from "node:fs";
    const [file, name, rounds] = process.argv.slice(2);
    for (let round = 0; round < Number(rounds); round++) {
      const entry = "Shell(" + name + "-" + round + ")";
      saveJson(file, (current) => ({ ...current, permissions: { allow: [...(current.permissions?.allow ?? []), entry] } }));
      writeSync(1, entry + "\\n");
    }`;
  await build({
    stdin: { contents, resolveDir: folder },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  return outfile;
}
