// Delete inside the workspace: where nobody can be asked it is done if a snapshot holds the file, where somebody can be it is asked.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { openLive } from "../../src/sdk/live/open-live.ts";
import { trust } from "../../src/store/trust.ts";
import { cli, createWorkspace, runCli, type Workspace } from "../support/run-cli.ts";

const made: Workspace[] = [];
afterEach(() => {
  for (const workspace of made.splice(0)) workspace.remove();
});

function place(calls: readonly object[] = [{ name: "Delete", args: { path: "notes.txt" } }]) {
  const workspace = createWorkspace();
  made.push(workspace);
  const { path, home, config } = workspace;
  trust(config, path);
  writeFileSync(join(path, "notes.txt"), "mine\n");
  const script = join(home, "script.json");
  writeFileSync(script, JSON.stringify([...calls.map((call) => ({ calls: [call] })), { text: "end" }]));
  return { ...workspace, model: `script:${script}`, file: join(path, "notes.txt") };
}

type Place = ReturnType<typeof place>;

async function print({ path: cwd, env, model }: Place, ...flags: string[]) {
  const run = await runCli(["-p", "--model", model, "--output-format", "json", ...flags, "go"], { cwd, env });
  return JSON.parse(run.stdout.trim().split("\n").at(-1)!);
}

it("the Delete tool works in print mode, and a rewind restores the file", async () => {
  const here = place();
  const { session_id, permission_denials } = await print(here);
  expect([existsSync(here.file), permission_denials ?? []]).toEqual([false, []]);
  const { path: cwd, env } = here;
  expect((await runCli(["sessions", "rewind", session_id], { cwd, env })).exit).toBe(0);
  expect(readFileSync(here.file, "utf8")).toBe("mine\n");
});

it("the Delete tool works for a file that a command changed before", async () => {
  const changed = { name: "Shell", args: { command: "echo changed > notes.txt" } };
  const here = place([changed, { name: "Delete", args: { path: "notes.txt" } }]);
  const { session_id } = await print(here);
  expect(existsSync(here.file)).toBe(false);
  await runCli(["sessions", "rewind", session_id], { cwd: here.path, env: here.env });
  expect(readFileSync(here.file, "utf8")).toBe("mine\n");
});

it.each<[string, string[], string, ((place: Place) => void)?]>([
  ["nothing is kept", ["--no-persist"], "No snapshot holds"],
  [
    "no snapshot can be taken",
    [],
    "No snapshot holds",
    ({ config }) => {
      mkdirSync(join(config, "courser"), { recursive: true });
      rmSync(join(config, "courser/snapshots"), { recursive: true, force: true });
      writeFileSync(join(config, "courser/snapshots"), "in the way");
    },
  ],
  ["Write rules speak of other files", ["--allow", "Write(src/**)"], "none covers"],
  ["a rule denies it", ["--deny", "Write(notes.txt)"], "denies"],
  ["it is hidden", [], "hides", ({ path }) => writeFileSync(join(path, ".cursorignore"), "notes.txt\n")],
  ["only reading is allowed", ["--mode", "ask"], "only reads"],
])("the Delete tool is refused where %s", async (_why, flags, reason, prepare) => {
  const here = place();
  prepare?.(here);
  const { permission_denials } = await print(here, ...flags);
  expect(existsSync(here.file)).toBe(true);
  if (!flags.includes("ask")) expect(JSON.stringify(permission_denials)).toContain(reason);
});

it.each([
  ["outside", (here: Place) => join(here.home, "outside.txt")],
  ["protected", (here: Place) => join(here.path, ".cursor/cli.json")],
])("the Delete tool is refused %s", async (_name, of) => {
  const bare = place();
  const file = of(bare);
  mkdirSync(join(bare.path, ".cursor"), { recursive: true });
  writeFileSync(file, "{}");
  writeFileSync(
    bare.model.slice("script:".length),
    JSON.stringify([{ calls: [{ name: "Delete", args: { path: file } }] }, { text: "end" }]),
  );
  await print(bare);
  expect(existsSync(file)).toBe(true);
});

it("the Delete tool works if a Write rule covers the file, whatever is saved", async () => {
  const here = place();
  await print(here, "--no-persist", "--allow", "Write(notes.txt)");
  expect(existsSync(here.file)).toBe(false);
});

it.each([
  { attended: true, asked: ["permission"], isThere: true },
  { attended: false, asked: [], isThere: false },
])("the Delete tool with a person present: $attended", async ({ attended, asked, isThere }) => {
  const here = place();
  const questions: string[] = [];
  const human = {
    async ask({ type }: { type: string }) {
      questions.push(type);
      return { type: "no" as const };
    },
  };
  const executable = [process.execPath, cli];
  const session = await openLive({ cwd: here.path, env: here.env, executable, model: here.model, attended, human });
  await session.send({ text: "go" }).ending;
  await session.close();
  expect([questions, existsSync(here.file)]).toEqual([asked, isThere]);
});

it("permissions check predicts the decision about Delete", async () => {
  const { path: cwd, env } = place();
  const check = async (...flags: string[]) =>
    (await runCli(["permissions", "check", ...flags, "Delete: notes.txt"], { cwd, env })).exit;
  expect([await check(), await check("-p")]).toEqual([3, 0]);
});
