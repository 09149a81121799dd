// Every answer to every event on every host, as the host is told it: what it reads, how the script ends, and what was lost on the way.
// test/bridge/answers.txt is the whole table; a change of it is a change for somebody's hooks.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HookAnswer } from "../../src/bridge/answer.ts";
import { readAnswer } from "../../src/bridge/answer.ts";
import { askTreatment } from "../../src/bridge/hosts/cursor-ask.ts";
import { hosts } from "../../src/bridge/hosts/index.ts";
import { callFields, outputOf } from "../../src/bridge/tool-call.ts";

/** What each of the hosts' events needs to be read. */
const payload = (event: string) => ({
  hook_event_name: event,
  session_id: "s",
  cwd: "/w",
  tool_name: "Bash",
  tool_input: { command: "ls" },
  command: "ls",
  file_path: "/w/a",
  prompt: "p",
  cursor_version: "3.2.16",
});

const answers: HookAnswer[] = [
  {},
  { decision: "allow" },
  { decision: "deny" },
  { decision: "deny", reason: "r" },
  { decision: "deny", reason: " ", user_message: "u" },
  { decision: "ask" },
  { decision: "ask", reason: "r" },
  { reason: "r" },
  { user_message: "u" },
  { additional_context: "c" },
  { modified_input: { command: "x" } },
  { decision: "allow", modified_input: { command: "x" }, reason: "r" },
  { decision: "deny", modified_input: { command: "x" }, user_message: "u", additional_context: "c" },
];

describe("answers of hook scripts", () => {
  it("the hook bridge answers each host in its own format, and reports parts it weakened or dropped", async () => {
    const rows = Object.values(hosts).flatMap((host) =>
      Object.keys(host.events).flatMap((name) => {
        const event = host.parse(payload(name), { events: "all" });
        const lines = answers.map((answer) => {
          const { stdout, stderr, exit_code, losses } = host.serialize(answer, event);
          const lost = losses.map(({ field, instead }) => (instead ? `${field} as ${instead}` : field));
          const said = [
            stdout.trim(),
            stderr.trim().replaceAll("[agent-hooks-bridge] ", "! ").replaceAll("\n", " / "),
          ].filter(Boolean);
          return `  ${JSON.stringify(answer)} -> ${exit_code}${said.map((each) => `  ${each}`).join("")}${lost.length > 0 ? `  lost: ${lost.join(", ")}` : ""}`;
        });
        expect(
          host
            .serialize({ decision: "ask" }, event)
            .losses.every((loss) => loss.host === host.name && loss.event === name),
        ).toBe(true);
        return [`${host.name} ${name} (${event.event}${host.permits(event) ? ", may refuse" : ""})`, ...lines];
      }),
    );
    await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "answers.txt"));
  });

  it.each([
    ["2.4.20", "asks"],
    ["2.4", "asks"],
    ["2", "asks"],
    ["2.4.21", "deny"],
    ["2.9", "deny"],
    ["v2.5.0", "deny"],
    ["3", "allow"],
    ["3.0.0", "allow"],
    ["10.1", "allow"],
    ["2026.09.18-a1b2c3d", "unknown"],
    ["1999.1", "allow"],
  ])("Cursor %s treats an ask as: %s", (version, treated) => {
    expect(askTreatment(version)).toBe(treated);
  });

  it("an unknown version of Cursor may treat an ask in any way, and every version of Courser asks", () => {
    expect([undefined, "", "next"].map((version) => askTreatment(version))).toEqual(["unknown", "unknown", "unknown"]);
    expect([undefined, "0.0.1", "9"].map((version) => askTreatment(version, "courser"))).toEqual(Array(3).fill("asks"));
  });
});

it.each<[unknown, object]>([
  [undefined, {}],
  [null, {}],
  [{ decision: undefined, reason: "no" }, { reason: "no" }],
  [{ decision: "deny", modified_input: { a: 1 }, additional_context: "", user_message: "u" }, { decision: "deny" }],
  [7, { fault: "it returned a number, not an object" }],
  [["deny"], { fault: "it returned an array, not an object" }],
  ["deny", { fault: 'it returned "deny", not an object' }],
  [{ decison: "deny" }, { fault: '"decison" is not a field of an answer (did you mean decision?)' }],
  [{ zzzzzz: 1 }, { fault: '"zzzzzz" is not a field of an answer' }],
  [{ decision: "maybe" }, { fault: '"decision" must be allow, deny or ask, not "maybe"' }],
  [{ reason: ["x"] }, { fault: '"reason" must be a string, not an array' }],
  [{ user_message: 1 }, { fault: '"user_message" must be a string, not a number' }],
  [{ modified_input: "x" }, { fault: '"modified_input" must be an object, not "x"' }],
  [{ additional_context: true }, { fault: '"additional_context" must be a string, not a boolean' }],
])("the hook bridge reads the answer %j of a handler", (returned, answer) => {
  expect(readAnswer(returned)).toMatchObject(answer);
});

describe("tool calls of hosts", () => {
  it.each<[string, unknown, object]>([
    ["Shell", { command: "ls" }, { tool: "Bash", nativeTool: "Shell", paths: [] }],
    ["Agent", undefined, { tool: "Task", input: {} }],
    ["Agent", null, { input: {} }],
    ["Agent", "plain", { input: { input: "plain" } }],
    ["Agent", [1], { input: { input: [1] } }],
    ["Read", '{"file_path":"/a"}', { tool: "Read", input: { file_path: "/a" }, paths: ["/a"] }],
    ["MCP:search", {}, { tool: "MCP", mcp: { tool: "search" } }],
    ["mcp__git__log__all", {}, { tool: "MCP", mcp: { server: "git", tool: "log__all" } }],
    ["mcp__git", {}, { tool: "mcp__git", mcp: undefined }],
    [
      "X",
      { path: "a", notebook_path: "b", target_file: "c", file_paths: ["a", 1, "d"] },
      { paths: ["a", "b", "c", "d"] },
    ],
    [
      "apply_patch",
      {
        command:
          "*** Begin Patch\n*** Add File: n\r\n*** Update File: u\n*** Move to: m\n*** Delete File: d\n*** End Patch",
      },
      { tool: "Edit", paths: ["n", "u", "m", "d"] },
    ],
    ["apply_patch", { command: "*** Add File: n" }, { paths: [] }],
  ])("the hook bridge reads the call fields of a host's tool %s %j", (name, input, expected) => {
    expect(callFields(name, input)).toMatchObject(expected);
  });

  it("the hook bridge gives shell calls a command and MCP calls their name, and parses JSON results", () => {
    expect(() => callFields("Bash", {})).toThrow('has no string "command"');
    expect(callFields("search", {}, { tool: "MCP" })).toMatchObject({ tool: "MCP", mcp: { tool: "search" } });
    expect([outputOf('{"a":1}'), outputOf("text"), outputOf(7)]).toEqual([{ a: 1 }, "text", 7]);
  });
});
