// What installing makes of each host's file: exact where it is new, careful where it is not.
import { describe, expect, it } from "vitest";
import { commandFor, type InstallHost, installHosts, matcherFor } from "../../src/bridge/install/hosts.ts";
import { configuredHooks, planInstall, planUninstall } from "../../src/bridge/install/plan.ts";
import { editJson } from "../../src/store/json-edit.ts";
import { parseJsonc } from "../../src/store/jsonc.ts";

const [cursor, claude, codex] = installHosts as [InstallHost, InstallHost, InstallHost];
const five = ["SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"] as const;

function install(
  host: InstallHost,
  text: string | undefined,
  options: { matcher?: string; events?: readonly string[] } = {},
): string {
  const events = options.events ?? five.map((name) => host.events[name]!);
  const hooks = events.map((event) => ({ event, ...(options.matcher !== undefined && { matcher: options.matcher }) }));
  const content = text === undefined ? undefined : (parseJsonc(text) as Record<string, unknown>);
  const edits = planInstall(host, content, { command: commandFor(host, ".hooks/format.ts"), hooks });
  return edits.length === 0 && text !== undefined ? text : editJson(text, edits);
}

function uninstall(host: InstallHost, text: string): string {
  const content = parseJsonc(text) as Record<string, unknown>;
  return editJson(text, planUninstall(host, content, ({ command }) => command.endsWith(` --host ${host.name}`)).edits);
}

describe("installing hooks into a new file", () => {
  it("installing hooks writes one entry for each of the five events into Cursor's file, byte for byte", () => {
    const entry = '[\n      {\n        "command": "./.hooks/format.ts --host cursor"\n      }\n    ]';
    const events = ["sessionStart", "preToolUse", "postToolUse", "beforeSubmitPrompt", "stop"];
    const wanted = `{\n  "version": 1,\n  "hooks": {\n${events.map((event) => `    "${event}": ${entry}`).join(",\n")}\n  }\n}\n`;
    expect(install(cursor, undefined)).toBe(wanted);
  });

  it.each([
    [claude, `"$CLAUDE_PROJECT_DIR"/.hooks/format.ts --host claude`],
    [codex, `"$(git rev-parse --show-toplevel 2>/dev/null || pwd)"/.hooks/format.ts --host codex`],
  ])("installing hooks writes groups for $name into a new file", (host, command) => {
    const group = [{ hooks: [{ type: "command", command }] }];
    expect(JSON.parse(install(host, undefined))).toEqual({
      hooks: Object.fromEntries(five.map((name) => [name, group])),
    });
  });
});

describe("installing hooks into an existing file", () => {
  const mine = `// my hooks
{
  "version": 1, // of the format
  "hooks": {
    "preToolUse": [
      { "command": "./audit.sh", "timeout": 5 } // keep me first
    ],
    /* nothing here yet */
    "stop": []
  },
  "theme": "dark"
}
`;

  it("installing hooks keeps comments, order and everything else in the file", () => {
    const text = install(cursor, mine);
    for (const kept of [
      "// my hooks",
      "// of the format",
      "// keep me first",
      "/* nothing here yet */",
      '"theme": "dark"',
    ])
      expect(text).toContain(kept);
    const hooks = configuredHooks(cursor, parseJsonc(text) as Record<string, unknown>);
    expect(hooks.filter(({ event }) => event === "preToolUse").map(({ command }) => command)).toEqual([
      "./audit.sh",
      "./.hooks/format.ts --host cursor",
    ]);
    expect(Object.keys((parseJsonc(text) as { hooks: object }).hooks)).toEqual([
      "preToolUse",
      "stop",
      "sessionStart",
      "postToolUse",
      "beforeSubmitPrompt",
    ]);
  });

  it("installing hooks a second time changes nothing", () => {
    for (const host of [cursor, claude, codex]) {
      const once = install(host, host === cursor ? mine : '{\n  "model": "opus"\n}\n');
      expect(install(host, once)).toBe(once);
    }
  });

  it("uninstalling hooks restores the original file", () => {
    const settings = `{
\t"permissions": { "allow": ["Bash(ls)"] },
\t"hooks": {
\t\t"PreToolUse": [
\t\t\t{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./audit.sh" }] }
\t\t]
\t}
}
`;
    expect(uninstall(claude, install(claude, settings))).toBe(settings);
    // An empty list goes with the last entry, whoever made the list.
    expect(uninstall(cursor, install(cursor, mine))).toBe(
      mine
        .replace('"preToolUse": [\n', '"preToolUse": [\n')
        .replace(',\n    /* nothing here yet */\n    "stop": []', "\n    /* nothing here yet */"),
    );
  });

  it("installing a hook with a new matcher replaces the old one", () => {
    const before = install(claude, undefined, { events: ["PreToolUse"], matcher: "Bash" });
    const after = install(claude, before, { events: ["PreToolUse"], matcher: "Bash|Edit" });
    expect(configuredHooks(claude, JSON.parse(after)).map(({ matcher }) => matcher)).toEqual(["Bash|Edit"]);
  });

  it("uninstalling removes one of two hooks in a group, not the group", () => {
    const command = commandFor(claude, ".hooks/format.ts");
    const group = {
      matcher: "Bash",
      hooks: [
        { type: "command", command },
        { type: "command", command: "./audit.sh" },
      ],
    };
    const text = JSON.stringify({ hooks: { PreToolUse: [group] } }, null, 2);
    expect(JSON.parse(uninstall(claude, text))).toEqual({
      hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "./audit.sh" }] }] },
    });
  });

  it.each([
    ['{"hooks": []}', '"hooks" is not an object'],
    ['{"hooks": {"stop": {}}}', '"hooks.stop" is not a list'],
    ['{"hooks": {"stop": ["x"]}}', '"hooks.stop[0]" is not an object'],
  ])("installing hooks refuses a file that is %s", (text, message) => {
    expect(() => install(cursor, text)).toThrow(message);
  });
});

describe("names used by hosts", () => {
  it.each([
    ["Bash|Edit", "Shell|Write", "Bash|Edit"],
    ["Shell", "Shell", "Bash"],
    ["Edit|Write", "Write", "Edit|Write"],
    ["mcp__.*|^Bash$", "mcp__.*|^Shell$", "mcp__.*|^Bash$"],
    ["Bashful", "Bashful", "Bashful"],
  ])("the hook matcher %s names each host's own tools", (given, onCursor, onClaude) => {
    expect([matcherFor(cursor, given), matcherFor(claude, given)]).toEqual([onCursor, onClaude]);
  });

  it.each([
    ["my hooks/a b.ts", "./'my hooks/a b.ts' --host cursor", `"$CLAUDE_PROJECT_DIR"/'my hooks/a b.ts' --host claude`],
    ["/opt/it's.ts", `'/opt/it'\\''s.ts' --host cursor`, `'/opt/it'\\''s.ts' --host claude`],
    ["$(touch x).ts", "./'$(touch x).ts' --host cursor", `"$CLAUDE_PROJECT_DIR"/'$(touch x).ts' --host claude`],
  ])("the hook command for the script %s is quoted for a shell", (script, onCursor, onClaude) => {
    expect([commandFor(cursor, script), commandFor(claude, script)]).toEqual([onCursor, onClaude]);
  });
});
