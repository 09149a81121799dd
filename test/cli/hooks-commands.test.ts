// `hooks install | uninstall | list | doctor | test | trace` in the built program.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHookWorkspace, type HookWorkspace } from "./hooks-place.ts";

let place: HookWorkspace;
beforeEach(() => {
  place = createHookWorkspace();
});
afterEach(() => place.remove());

const hooks = (...args: string[]) => place.run(["hooks", ...args]);
const json = async (...args: string[]) => JSON.parse((await hooks(...args, "--format", "json")).stdout) as any;
const text = (file: string) => readFileSync(join(place.path, file), "utf8");

/** Trusts the workspace, as a first run would. */
const trusted = () => place.run(["-p", "--trust", "--model", "offline", "what is 1+1?"]);

describe("install", () => {
  it("hooks install writes one entry for each of the five events, once", async () => {
    await hooks("init");
    expect((await hooks("install", "--hosts", "cursor")).exit).toBe(0);
    const first = text(".cursor/hooks.json");
    const entry = [{ command: "./.hooks/format.ts --host cursor" }];
    const wanted = {
      version: 1,
      hooks: { sessionStart: entry, preToolUse: entry, postToolUse: entry, beforeSubmitPrompt: entry, stop: entry },
    };
    expect(first).toBe(`${JSON.stringify(wanted, null, 2)}\n`);
    const again = await hooks("install", "--hosts", "cursor");
    expect(again.stdout).toBe(".cursor/hooks.json: it is already there.\n");
    expect(text(".cursor/hooks.json")).toBe(first);
  });

  it("hooks install detects the hosts that are used in this project", async () => {
    await hooks("init");
    expect((await json("install", "--dry-run")).hosts.map(({ host }: any) => host)).toEqual(["cursor"]);
    mkdirSync(join(place.path, ".claude"));
    place.script("../bin/codex", "#!/bin/sh\necho codex-cli 0.166.0\n");
    expect((await json("install", "--dry-run")).hosts.map(({ host }: any) => host)).toEqual([
      "cursor",
      "claude",
      "codex",
    ]);
    expect(existsSync(join(place.path, ".cursor"))).toBe(false);
  });

  it("hooks install --dry-run shows a diff and writes nothing", async () => {
    await hooks("init");
    place.file(".cursor/hooks.json", '{\n  "version": 1,\n  "hooks": {} // none\n}\n');
    const { stdout } = await hooks("install", "--dry-run", "--hosts", "cursor", "--events", "stop");
    expect(stdout).toContain("--- a/.cursor/hooks.json\n+++ b/.cursor/hooks.json\n");
    expect(stdout).toContain('+        "command": "./.hooks/format.ts --host cursor"\n');
    expect(text(".cursor/hooks.json")).toContain('"hooks": {} // none');
  });

  it("hooks install accepts event names and matchers of every host", async () => {
    await hooks("init");
    await hooks(
      "install",
      "--hosts",
      "cursor,claude",
      "--events",
      "beforeSubmitPrompt,PreToolUse,afterFileEdit",
      "--matcher",
      "Bash|Edit",
    );
    const command = "./.hooks/format.ts --host cursor";
    expect(JSON.parse(text(".cursor/hooks.json")).hooks).toEqual({
      preToolUse: [{ command, matcher: "Shell|Write" }],
      beforeSubmitPrompt: [{ command }],
      afterFileEdit: [{ command }],
    });
    const claude = JSON.parse(text(".claude/settings.json")).hooks;
    expect(Object.keys(claude)).toEqual(["PreToolUse", "UserPromptSubmit"]);
    expect(claude.PreToolUse[0].matcher).toBe("Bash|Edit");
  });

  it("hooks install --global writes into the home directory, with absolute paths", async () => {
    await hooks("init");
    await hooks("install", "--global", "--hosts", "cursor,claude,codex", "--events", "Stop");
    const script = join(place.path, ".hooks/format.ts");
    expect(JSON.parse(readFileSync(join(place.config, "hooks.json"), "utf8")).hooks.stop).toEqual([
      { command: `${script} --host cursor` },
    ]);
    expect(
      JSON.parse(readFileSync(join(place.home, ".claude/settings.json"), "utf8")).hooks.Stop[0].hooks[0].command,
    ).toBe(`${script} --host claude`);
    expect(JSON.parse(readFileSync(join(place.home, ".codex/hooks.json"), "utf8")).hooks.Stop[0].hooks[0].command).toBe(
      `${script} --host codex`,
    );
    expect(statSync(join(place.config, "hooks.json")).mode & 0o077).toBe(0);
    expect(existsSync(join(place.path, ".cursor"))).toBe(false);
  });

  it.each([
    [["install"], "No executable script in .hooks", 2],
    [["install", "nowhere.ts"], "Script not found: nowhere.ts", 2],
    [["install", "--hosts", "cursr"], "Did you mean cursor?", 2],
    [["install", "plain.ts"], "chmod +x plain.ts", 2],
    [["install", "x.sh", "--events", "preTolUse"], "Did you mean PreToolUse?", 2],
    [["install", "x.sh", "--matcher", "("], "is not a valid pattern", 2],
    [["install", "--payload", "x"], "does not take --payload", 2],
    [["instal"], "Did you mean hooks install?", 2],
    [["test"], "<event>. Type: courser hooks test", 2],
    [["init", "../evil"], "is not a valid script name", 2],
  ])("hooks install refuses %j: %s", async (args, message, exit) => {
    place.file("plain.ts", "");
    place.script("x.sh", "#!/bin/sh\n");
    const ran = await hooks(...args);
    expect({ exit: ran.exit, stdout: ran.stdout }).toEqual({ exit, stdout: "" });
    expect(ran.stderr).toContain(message);
  });

  it("hooks install leaves a file that it cannot parse unchanged", async () => {
    place.script("x.sh", "#!/bin/sh\n");
    for (const broken of ['{"hooks": [', '{"hooks": []}', '{"hooks": {"stop": [1]}}']) {
      place.file(".cursor/hooks.json", broken);
      const { exit, stderr } = await hooks("install", "x.sh", "--hosts", "cursor");
      expect(exit).toBe(1);
      expect(stderr).toContain("[CONFIG_INVALID]");
      expect(text(".cursor/hooks.json")).toBe(broken);
    }
    rmSync(join(place.path, ".cursor"), { recursive: true });
    place.file(".claude/settings.json", "{");
    expect((await hooks("install", "x.sh", "--hosts", "cursor,claude")).exit).toBe(1);
    expect(existsSync(join(place.path, ".cursor"))).toBe(false);
  });

  it("hooks install refuses to run inside an agent", async () => {
    place.script("x.sh", "#!/bin/sh\n");
    for (const command of ["install", "uninstall"]) {
      const { exit, stderr } = await place.run(["hooks", command, "x.sh"], { env: { CURSOR_AGENT: "1" } });
      expect(exit).toBe(1);
      expect(stderr).toContain("agents may not change the hooks that watch them");
    }
    expect(existsSync(join(place.path, ".cursor"))).toBe(false);
  });

  it("hooks install approves what it wrote, but not what was there", async () => {
    await trusted();
    await hooks("init");
    await hooks("install", "--hosts", "cursor");
    expect((await json("list")).files[0].state).toBe("runs");
    place.file(".cursor/hooks.json", '{"version":1,"hooks":{"stop":[{"command":"./foreign.sh"}]}}');
    const { stdout } = await hooks("install", "--hosts", "cursor");
    expect(stdout).toContain("contains hooks that you have not approved");
    expect((await json("list")).files[0].state).toBe("not approved");
  });
});

describe("uninstall", () => {
  it("hooks uninstall removes only what install wrote", async () => {
    await hooks("init");
    place.script("audit.sh", "#!/bin/sh\n");
    const theirs =
      '{\n  // audit\n  "version": 1,\n  "hooks": {\n    "preToolUse": [\n      { "command": "./audit.sh --host cursor" },\n      { "command": "other --host cursor" }\n    ]\n  }\n}\n';
    place.file(".cursor/hooks.json", theirs);
    await hooks("install", "--hosts", "cursor,claude");
    const { stdout } = await hooks("uninstall");
    expect(stdout).toContain("removed preToolUse, sessionStart");
    expect(text(".cursor/hooks.json")).toBe(theirs);
    expect(JSON.parse(text(".claude/settings.json"))).toEqual({ hooks: {} });
    expect((await hooks("uninstall")).stdout).toContain("nothing was changed");
    await hooks("uninstall", "audit.sh");
    expect(text(".cursor/hooks.json")).not.toContain("audit.sh");
    expect(text(".cursor/hooks.json")).toContain("other --host cursor");
  });

  it("hooks uninstall removes entries whose script is gone", async () => {
    await hooks("init");
    await hooks("install", "--hosts", "codex");
    rmSync(join(place.path, ".hooks"), { recursive: true });
    await hooks("uninstall");
    expect(JSON.parse(text(".codex/hooks.json"))).toEqual({ hooks: {} });
  });
});

describe("list and doctor", () => {
  it("hooks list and doctor say when there are no hooks", async () => {
    expect((await hooks("list")).stdout).toContain("courser hooks init");
    const { exit, stdout } = await hooks("doctor");
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "✓ 0 hooks, no problems found.\n" });
  });

  it("hooks list shows all levels, with what keeps them from running", async () => {
    place.file(".cursor/hooks.json", '{"version":1,"hooks":{"preToolUse":[{"command":"true","matcher":"Shell"}]}}');
    place.file("../home/.cursor/hooks.json", '{"version":1,"hooks":{"stop":[{"command":"true","failClosed":true}]}}');
    place.file(".claude/settings.json", '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}');
    place.file(".codex/hooks.json", '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}');
    const { files } = await json("list");
    expect(files.map(({ level, state, hooks }: any) => [level, state, hooks[0].event])).toEqual([
      ["project", "untrusted", "preToolUse"],
      ["user", "runs", "stop"],
      ["claude project", "untrusted", "stop"],
      ["codex project", "codex only", "stop"],
    ]);
    const { stdout } = await hooks("list");
    expect(stdout).toContain("  preToolUse  true  (matcher Shell)\n");
    expect(stdout).toContain("  stop  true  (fails closed)\n");
    await trusted();
    expect((await json("list")).files[0].state).toBe("runs");
    writeFileSync(join(place.path, ".cursor/hooks.json"), '{"version":1,"hooks":{"preToolUse":[{"command":"false"}]}}');
    expect((await json("list")).files[0].state).toBe("not approved");
  });

  it("hooks doctor finds what keeps a hook from working", async () => {
    chmodSync(place.script("closed.sh", "#!/bin/sh\n"), 0o644);
    place.script("shell.sh", "#!/no/such/shell\n");
    place.script("runner.ts", "#!/usr/bin/env -S no-such-runner --fast\n");
    place.script("windows.sh", "#!/bin/sh\r\n");
    place.script("bare.ts", "console.log(1)\n");
    place.script("good.sh", "#!/usr/bin/env -S sh -e\n");
    const entries: [command: string, message: string][] = [
      ["./gone.sh", "./gone.sh does not exist."],
      ["no-such-program -x", "no-such-program is not in PATH."],
      ["A=b sh gone.sh", "gone.sh, which sh should run, does not exist"],
      ["./closed.sh --host cursor", "chmod +x ./closed.sh"],
      ['"$CURSOR_PROJECT_DIR"/shell.sh', "/no/such/shell, which should run"],
      ["./runner.ts", "no-such-runner, which should run ./runner.ts, is not in PATH."],
      ["./windows.sh", "Windows line endings"],
      ["./bare.ts", "no #! line"],
    ];
    const fine = ["./good.sh x", "true", "exit 2", "cd x && make", "$SOMETHING/hook", "jq . | cat"];
    const stop = [...entries.map(([command]) => command), ...fine, "true"].map((command) => ({ command }));
    const hooks = { stop, preTooluse: [{ command: "true" }], preToolUse: [{ command: "true", matcher: "(" }] };
    const file = place.file(".cursor/hooks.json", JSON.stringify({ version: 1, hooks }));
    const ran = await place.run(["hooks", "doctor", "--trust", "--format", "json"]);
    expect(ran.exit).toBe(1);
    const { findings } = JSON.parse(ran.stdout) as { findings: Record<string, string>[] };
    const at = (entry: string | undefined) =>
      findings.filter((each) => each["entry"] === entry).map((each) => `${each["message"]} ${each["advice"]}`);
    for (const [index, [, message]] of entries.entries())
      expect(at(`hooks.stop[${index}]`)).toEqual([expect.stringContaining(message)]);
    for (const index of fine.keys()) expect(at(`hooks.stop[${entries.length + index}]`)).toEqual([]);
    expect(at(`hooks.stop[${stop.length - 1}]`)).toEqual([expect.stringContaining("runs twice")]);
    expect(at("hooks.preToolUse[0]")).toEqual([
      expect.stringContaining("The matcher ( is not a valid regular expression."),
    ]);
    expect(at(undefined).join()).toContain('did you mean "preToolUse"?');
    expect(findings.every((each) => each["file"] === file && each["kind"] === "problem" && each["advice"] !== "")).toBe(
      true,
    );
    place.file(".cursor/hooks.json", '{"hooks": ');
    const broken = await place.run(["hooks", "doctor", "--trust"]);
    expect(broken.exit).toBe(1);
    expect(broken.stdout).toContain("unexpected end of the text");
  });

  it("hooks init and doctor look for courser-hook like the script does", async () => {
    await trusted();
    const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
    const alone = await place.run(["hooks", "init", "one"], { env });
    expect(alone.stdout).toContain("Note: courser-hook, which runs it, was not found.");
    await place.run(["hooks", "install", "one", "--hosts", "cursor"], { env });
    const told = await place.run(["hooks", "doctor"], { env });
    expect(told.stdout.match(/courser-hook, which should run/g), told.stdout).toHaveLength(1);
    expect(told.stdout).toMatch(
      /hooks\.sessionStart\[0\] and 4 more: .*\n {2}Type: courser install\n5 hooks, 1 to fix\./,
    );
    place.script("node_modules/.bin/courser-hook", "#!/bin/sh\n");
    expect((await place.run(["hooks", "init", "two"], { env })).stdout).not.toContain("Note");
    expect(await place.run(["hooks", "doctor"], { env })).toMatchObject({ exit: 0 });
  });

  it("hooks doctor accepts what install wrote, and knows the hosts' behaviour", async () => {
    await trusted();
    await hooks("init");
    place.script("../bin/codex", '#!/bin/sh\n[ "$1" = features ] && echo "hooks    stable    ${CODEX_HOOKS:-true}"\n');
    await hooks("install", "--hosts", "cursor,claude,codex");
    const { exit, stdout } = await hooks("doctor");
    expect(exit).toBe(0);
    expect(stdout).toContain("Codex silently skips hooks until you trust them");
    expect(stdout).toContain("calls it twice; Courser calls it once");
    expect(stdout).toContain("✓ 15 hooks, no problems found.\n");
    // What stands in both files runs once, and the others say so.
    const list = (await hooks("list")).stdout;
    expect(list.match(/--host claude {2}\(runs once, from \.cursor\/hooks\.json\)$/gm)).toHaveLength(5);
    const tried = (await hooks("test", "preToolUse")).stdout;
    expect(tried).toContain("not asked: it runs once, from .cursor/hooks.json hooks.preToolUse[0]");
    const off = await place.run(["hooks", "doctor"], { env: { CODEX_HOOKS: "false" } });
    expect(off.exit).toBe(1);
  });
});

describe("one hook script", () => {
  it("a hook blocks rm -rf in print mode, and trace shows how", async () => {
    await hooks("init", "guard");
    await hooks("install", "guard", "--hosts", "cursor");
    place.file("victim/a.txt", "");
    const script = [{ calls: [{ name: "Shell", args: { command: "rm -rf victim" } }] }, { text: "done" }];
    const run = await place.play(script, ["--trust"]);
    expect(run.exit).toBe(0);
    expect(existsSync(join(place.path, "victim/a.txt"))).toBe(true);
    const end = run.lines().find((line) => line["type"] === "tool_call" && line["subtype"] === "completed")!;
    expect(JSON.stringify(end)).toContain("rm -rf is blocked");
    const lines = await json("trace");
    expect(lines.find(({ event }: any) => event === "preToolUse")).toMatchObject({
      answer: "deny",
      exit: 2,
      command: "./.hooks/guard.ts --host cursor",
      source: expect.stringContaining("hooks.preToolUse[0]"),
    });
    const { stdout } = await hooks("trace");
    expect(stdout).toMatch(/preToolUse +deny +\d+ ms {2}\.\/\.hooks\/guard\.ts --host cursor {2}exit 2/);
    // The same run without the hook: it is the hook that stands in the way.
    await hooks("uninstall");
    await place.play(script, ["--trust"]);
    expect(existsSync(join(place.path, "victim"))).toBe(false);
  });

  it("hooks trace says when nothing was traced", async () => {
    expect((await hooks("trace")).stdout).toBe("No run with hooks has been recorded here yet.\n");
    expect(await json("trace")).toEqual([]);
  });
});
