// The JSON samples that are documented of cursor-agent: the same file or command, the built CLI, the same keys
// and values but for ids, times and paths. What differs is listed in the data, with its reason.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type ModelAnswer, modelServer } from "../../src/testing/kit/model-server.ts";
import { type CliRun, cli, createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

type FileContent = string | { lines: number; first?: string; last?: string };

type Sample = {
  id: string;
  prompt?: string;
  args?: string[];
  flags?: string[];
  script?: unknown;
  call?: { name: string; args: unknown };
  files?: Record<string, FileContent>;
  compat?: string;
  exit?: number;
  /** What the vendor's server answers, to a key that `login` saved. */
  server?: ModelAnswer;
  /** The first line of stdout with these fields is compared, or the nth … */
  line: Record<string, unknown>;
  nth?: number;
  /** … or what it holds here. */
  at?: string;
  /** The workspace of the sample. */
  root?: string;
  sample: unknown;
  /** What is otherwise here, and why: the page on compatibility says so. */
  deviations?: Record<string, string>;
  /** What depends on the folder or the answer of the sample. */
  elsewhere?: Record<string, string>;
  /** Fields that the sample lacks, and why ours has them. `*` stands for any name. */
  also?: Record<string, string>;
};

const samples = JSON.parse(readFileSync(join(repository, "test/cases/golden/samples.json"), "utf8")) as Sample[];
const workspaces: Workspace[] = [];
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

/** Ids and times differ in every run; their kind must not. */
const varying =
  /^(call_id|toolCallId|session_id|request_id|model_call_id|timestamp_ms|duration_ms|duration_api_ms|executionTime|startedAtMs|completedAtMs|createdAt|updatedAt|conversationId)$/;

describe("recorded samples", () => {
  it.each(samples.map((sample) => [sample.id, sample] as const))(
    "our JSON output has the same keys as the documented sample of cursor-agent: %s",
    async (_, sample) => {
      const workspace = createWorkspace();
      workspaces.push(workspace);
      for (const [name, content] of Object.entries(sample.files ?? {})) workspace.file(name, contentOf(content));
      const env: Record<string, string> = sample.compat ? { COURSER_COMPAT: sample.compat } : {};
      const run = sample.server ? await askServer(workspace, sample.server) : await runSample(workspace, sample, env);
      expect(run.exit, run.stderr).toBe(sample.exit ?? 0);
      const matching = run
        .lines()
        .filter((each) => Object.entries(sample.line).every(([key, value]) => each[key] === value));
      const line = matching[sample.nth ?? 0];
      expect(line, run.stdout).toBeDefined();
      const actual = sample.at ? line![sample.at] : line;
      const expected = JSON.parse(
        JSON.stringify(sample.sample).replaceAll(sample.root ?? "\0", workspace.path),
      ) as unknown;
      expect(differences(expected, actual, "", sample)).toEqual([]);
    },
  );
});

function runSample(workspace: Workspace, sample: Sample, env: Record<string, string>): Promise<CliRun> {
  const prompt = sample.prompt ?? "go";
  const script = sample.script ?? (sample.call && [{ calls: [sample.call] }, { text: "done" }]);
  if (!script) return workspace.run([...(sample.args ?? []), prompt], { env });
  return workspace.play(script, [...(sample.flags ?? []), "--", prompt], { env });
}

async function askServer(workspace: Workspace, answer: ModelAnswer): Promise<CliRun> {
  await using server = await modelServer(() => answer);
  const name = join(workspace.home, "cursor-agent"); // texts say the name that was typed
  symlinkSync(cli, name);
  mkdirSync(workspace.config, { recursive: true });
  const providers = { own: { type: "openai-compatible", baseUrl: `${server.url}/v1`, keyEnv: "OWN_KEY" } };
  writeFileSync(join(workspace.config, "courser.json"), JSON.stringify({ providers }));
  await workspace.run(["login", "own"], { stdin: "a-saved-key" });
  const run = await workspace.run(["-p", "--force", "--output-format", "stream-json", "--model", "own/m", "hi"], {
    name,
  });
  expect(run.lines().at(-1)!["result"]).toMatch(/^Error: Authentication failed. Please run 'cursor-agent login'/);
  return run;
}

function differences(expected: unknown, actual: unknown, path: string, sample: Sample): string[] {
  const name = path.split(".").at(-1)!;
  if (path in { ...sample.deviations, ...sample.elsewhere }) return actual === undefined ? [`${path} is missing`] : [];
  if (varying.test(name)) return typeof actual === typeof expected ? [] : [`${path} is ${JSON.stringify(actual)}`];
  if (typeof expected !== "object" || expected === null) {
    return Object.is(expected, actual)
      ? []
      : [`${path}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`];
  }
  if (typeof actual !== "object" || actual === null)
    return [`${path}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`];
  if (Array.isArray(expected) !== Array.isArray(actual)) return [`${path}: an array and an object`];
  const found: string[] = [];
  for (const [key, value] of Object.entries(expected)) {
    found.push(
      ...differences(value, (actual as Record<string, unknown>)[key], path === "" ? key : `${path}.${key}`, sample),
    );
  }
  for (const key of Object.keys(actual)) {
    const full = path === "" ? key : `${path}.${key}`;
    if (!(key in expected) && !isListed(full, sample.also)) found.push(`${full} is not in the sample`);
  }
  return found;
}

function isListed(path: string, list: Record<string, string> = {}): boolean {
  // File paths are keys too and hold dots: `*` stands for one or more names.
  return Object.keys(list).some((pattern) =>
    new RegExp(
      `^${pattern
        .split("*")
        .map((part) => part.replace(/[.\\]/g, "\\$&"))
        .join(".+")}$`,
    ).test(path),
  );
}

function contentOf(content: FileContent): string {
  if (typeof content === "string") return content;
  const lines = Array.from({ length: content.lines }, (_, index) => `// line ${index + 1}`);
  const head = content.first?.split("\n") ?? [];
  lines.splice(0, head.length, ...head);
  return `${lines.join("\n")}\n${content.last ? `${content.last}\n` : ""}`;
}
