// Folders that are trusted, hooks that are approved, and the trace of what they did.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openHookTrace, readHookTrace } from "../../src/store/hook-trace.ts";
import { approveHooks, inheritHooks, isApproved } from "../../src/store/hook-trust.ts";
import { projectDir } from "../../src/store/project.ts";
import { inheritTrust, isTrusted, isWide, revokeTrust, trust, trustedFolders } from "../../src/store/trust.ts";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "courser-kept-")));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

describe("trust", () => {
  it("trusted folders are listed by their real path, in order, without those whose marker names another", () => {
    expect(trustedFolders(dir)).toEqual([]);
    const folders = ["b", "a", "c"].map((name) => join(dir, "work", name));
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      trust(dir, folder);
    }
    writeFileSync(
      join(projectDir(dir, folders[2]!), ".workspace-trusted"),
      JSON.stringify({ workspacePath: "/other" }),
    );
    mkdirSync(join(dir, "projects/odd"));
    for (const odd of ["null", "{}", "no JSON"]) {
      writeFileSync(join(dir, "projects/odd/.workspace-trusted"), odd);
      expect(trustedFolders(dir)).toEqual([folders[1], folders[0]]);
    }
    expect(folders.map((each) => isTrusted(dir, each))).toEqual([true, true, false]);
    const marker = join(projectDir(dir, folders[0]!), ".workspace-trusted");
    const text = readFileSync(marker, "utf8");
    trust(dir, folders[0]!);
    expect(readFileSync(marker, "utf8")).toBe(text);
    expect([revokeTrust(dir, folders[0]!), revokeTrust(dir, folders[0]!)]).toEqual([true, false]);
    expect(trustedFolders(dir)).toEqual([folders[1]]);
    rmSync(join(dir, "projects"), { recursive: true });
    writeFileSync(join(dir, "projects"), "");
    expect(trustedFolders(dir)).toEqual([]);
  });

  it("the root, the home and the folder above it are no projects", () => {
    const wide = ["/", "/home/me", "/home", "/home/me/work", "/home/you"].map((each) => isWide(each, "/home/me"));
    expect(wide).toEqual([true, true, true, false, false]);
  });

  const hooks = (workspace: string, text = '{"hooks":{"stop":[{"command":"true"}]}}') =>
    [join(workspace, ".cursor/hooks.json"), text] as const;

  it("hooks are approved as they are, file by file, for their workspace only", () => {
    const place = { configDir: dir, workspace: "/w/one" };
    const [file, text] = hooks("/w/one");
    expect(isApproved(place, file, text)).toBe(false);
    approveHooks(place, [{ file, text }]);
    const record = join(projectDir(dir, "/w/one"), "hooks-approved.json");
    expect(JSON.parse(readFileSync(record, "utf8"))).toEqual({
      workspacePath: "/w/one",
      files: { ".cursor/hooks.json": expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect([isApproved(place, file, text), isApproved(place, file, `${text} `)]).toEqual([true, false]);
    approveHooks(place, [{ file: "/w/one/other.json", text }]);
    expect([isApproved(place, file, text), isApproved(place, "/w/one/other.json", text)]).toEqual([true, true]);
    // The folder of /w-one is the same; the record tells them apart.
    expect(isApproved({ configDir: dir, workspace: "/w-one" }, "/w-one/.cursor/hooks.json", text)).toBe(false);
    const { mtimeMs } = statSync(record, { bigint: false });
    utimesSync(record, 1, 1);
    approveHooks(place, [{ file, text }]);
    expect([mtimeMs > 1000, statSync(record).mtimeMs]).toEqual([true, 1000]);
    for (const broken of ["no JSON", '{"workspacePath":"/w/one"}', '{"workspacePath":"/w/one","files":7}']) {
      writeFileSync(record, broken);
      expect(isApproved(place, file, text)).toBe(false);
    }
  });

  it("a script that a hook runs counts, wherever its command stands; names and descriptions do not", () => {
    const workspace = join(dir, "project");
    const place = { configDir: dir, workspace };
    mkdirSync(workspace);
    const script = join(workspace, "check.sh");
    const texts = [
      '{"hooks":{"stop":[{"command":"./check.sh"}]}}',
      '{"hooks":{"stop":[{"hooks":[{"type":"command","command":"sh check.sh"}]}]}}',
      "not JSON: ./check.sh",
    ];
    for (const text of texts) {
      writeFileSync(script, "echo one");
      approveHooks(place, [{ file: join(workspace, "hooks.json"), text }]);
      expect(isApproved(place, join(workspace, "hooks.json"), text)).toBe(true);
      writeFileSync(script, "echo two");
      expect([text, isApproved(place, join(workspace, "hooks.json"), text)]).toEqual([text, false]);
    }
    const passive = '{"hooks":{"stop":[{"command":"true","description":"./check.sh","list":["./check.sh"]}]}}';
    approveHooks(place, [{ file: join(workspace, "hooks.json"), text: passive }]);
    writeFileSync(script, "echo three");
    expect(isApproved(place, join(workspace, "hooks.json"), passive)).toBe(true);
  });

  it("a copy of a workspace inherits its trust and approved hooks, beside its own", () => {
    const [from, to] = [join(dir, "from"), join(dir, "to")];
    for (const folder of [from, to]) mkdirSync(folder);
    inheritTrust(dir, from, to);
    expect([isTrusted(dir, to), readdirSync(projectDir(dir, to))]).toEqual([true, [".workspace-trusted"]]);
    const [file, text] = hooks(from);
    const own = { file: join(to, "own.json"), text };
    approveHooks({ configDir: dir, workspace: from }, [{ file, text }]);
    approveHooks({ configDir: dir, workspace: to }, [own]);
    inheritHooks({ configDir: dir, workspace: from }, to);
    const place = { configDir: dir, workspace: to };
    expect([isApproved(place, join(to, ".cursor/hooks.json"), text), isApproved(place, own.file, text)]).toEqual([
      true,
      true,
    ]);
  });
});

describe("the trace of hooks", () => {
  const line = (event: string, more = {}) => ({
    at: "2026",
    event,
    source: "s",
    command: "c",
    ms: 1,
    exit: 0,
    answer: "allow",
    note: "n",
    ...more,
  });
  const paths = () => ({ configDir: dir, workspace: "/w" });

  it("the trace has the calls of the last run, redacted and in short", () => {
    expect(readHookTrace(paths())).toEqual([]);
    openHookTrace(paths(), (text) => text)(line("before"));
    const trace = openHookTrace(paths(), (text) => text.replaceAll("secret", "[…]"));
    expect(readHookTrace(paths()).map(({ event }) => event)).toEqual(["before"]);
    trace(line("one", { command: "curl secret", note: "a secret" }));
    trace(line("two", { command: "x".repeat(5000), note: "y".repeat(5000) }));
    const [one, two, ...others] = readHookTrace(paths());
    expect(others).toEqual([]);
    expect(one).toEqual(line("one", { command: "curl […]", note: "a […]" }));
    for (const text of [two!.command, two!.note]) {
      expect(text.length).toBeGreaterThan(1990);
      expect(text.length).toBeLessThan(2100);
    }
    appendFileSync(join(projectDir(dir, "/w"), "hooks-trace.jsonl"), '{"event":7}\nno JSON\nnull\n');
    expect(readHookTrace(paths())).toHaveLength(2);
  });

  it("the trace ends after a thousand calls, and where it cannot be written", () => {
    const trace = openHookTrace(paths(), (text) => text);
    for (let call = 0; call < 1003; call++) trace(line(`call ${call}`));
    expect(
      readHookTrace(paths())
        .map(({ event }) => event)
        .slice(-1),
    ).toEqual(["call 999"]);
    rmSync(join(dir, "projects"), { recursive: true });
    writeFileSync(join(dir, "projects"), "");
    const other = openHookTrace(paths(), (text) => text);
    other(line("lost"));
    rmSync(join(dir, "projects"));
    other(line("lost too"));
    expect(readHookTrace(paths())).toEqual([]);
  });
});
