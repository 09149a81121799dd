// Reads the environment of a task without containers: a folder that is copied. Of a Dockerfile only FROM, WORKDIR and COPY are
// supported; any other instruction is refused with its line number.
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { UserError } from "../protocol/error-codes.ts";

/** `from` is relative to `environment/`, `to` to the workspace. */
export type Copy = { from: string; to: string };

export type Environment = {
  /** The workspace's path in a container, which the instruction and scripts may mention. */
  workdir?: string;
  copies: readonly Copy[];
};

/** Reads the environment of a task. Without a Dockerfile, everything in `environment/` is copied. */
export function readEnvironment(folder: string): Environment {
  const base = join(folder, "environment");
  const compose = ["docker-compose.yaml", "docker-compose.yml"].find((name) => existsSync(join(base, name)));
  if (compose) throw invalidTaskError(folder, `environment/${compose} needs containers, and there are none here`);
  if (!existsSync(base)) return { copies: [] };
  const file = join(base, "Dockerfile");
  if (!existsSync(file)) return { copies: [{ from: ".", to: "." }] };
  return readDockerfile(readFileSync(file, "utf8"), (line, why) =>
    invalidTaskError(folder, `environment/Dockerfile, line ${line}: ${why}`),
  );
}

type Refuse = (line: number, why: string) => UserError;

export function readDockerfile(text: string, refuse: Refuse): Environment {
  let workdir = "/";
  const copies: { from: string; to: string; line: number }[] = [];
  for (const { words, line, shown } of instructionsIn(text)) {
    const [name = "", ...operands] = words;
    const instruction = name.toUpperCase();
    if (!/^(?:FROM|WORKDIR|COPY)$/.test(instruction))
      throw refuse(line, `only FROM, WORKDIR and COPY can be followed without a container, not: ${shown}`);
    if (instruction === "WORKDIR") workdir = posix.resolve(workdir, operands[0] ?? "/");
    if (instruction === "FROM" && operands.some((word) => /^as$/i.test(word)))
      throw refuse(line, "builds of several stages are not supported");
    if (instruction !== "COPY") continue;
    const option = operands.find((word) => word.startsWith("--"));
    if (option) throw refuse(line, `COPY ${option} is not supported`);
    if (operands.length < 2) throw refuse(line, "COPY needs a source and a destination");
    if (operands.some((word) => /[*?$]/.test(word))) throw refuse(line, "patterns and variables are not supported");
    const to = operands.at(-1)!;
    const isFolder = operands.length > 2 || to.endsWith("/") || to === ".";
    const target = posix.resolve(workdir, to);
    // The contents of a folder are copied; a file keeps its name.
    for (const from of operands.slice(0, -1)) copies.push({ from, to: isFolder ? `${target}/` : target, line });
  }
  return {
    ...(workdir !== "/" && { workdir }),
    copies: copies.map(({ from, to, line }) => {
      const inside = posix.relative(workdir, to) || ".";
      if (inside.startsWith("..")) throw refuse(line, `${to} is outside the directory to work in, ${workdir}`);
      if (posix.normalize(from).startsWith("..")) throw refuse(line, `${from} is outside environment/`);
      return { from: posix.normalize(from).replace(/^\/+/, "") || ".", to: to.endsWith("/") ? `${inside}/` : inside };
    }),
  };
}

/** Yields the instructions of a Dockerfile, without comments. Lines that end in `\` are joined. */
function* instructionsIn(text: string): Generator<{ words: string[]; line: number; shown: string }> {
  let open = "";
  let start = 0;
  for (const [index, each] of text.split(/\r?\n/).entries()) {
    if (each.trim() === "" || each.trim().startsWith("#")) continue;
    if (open === "") start = index + 1;
    if (each.endsWith("\\")) {
      open += `${each.slice(0, -1)} `;
      continue;
    }
    const sectionText = (open + each).trim();
    open = "";
    yield { words: splitInstruction(sectionText), line: start, shown: sectionText };
  }
}

/** Handles `COPY ["a b", "c"]`, whose operands are JSON. */
function splitInstruction(instruction: string): string[] {
  const [, name, list] = /^(\w+)\s+(\[.*\])$/.exec(instruction) ?? [];
  if (name === undefined) return instruction.split(/\s+/);
  try {
    return [name, ...(JSON.parse(list!) as unknown[]).map(String)];
  } catch {
    return instruction.split(/\s+/);
  }
}

export function invalidTaskError(folder: string, why: string): UserError {
  return new UserError("TASK_INVALID", `The task ${folder} cannot be used: ${why}.`);
}
