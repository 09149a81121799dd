// What is understood of a line of a stream, field by field: an example of every kind, then the same line with one field missing or of
// another type. test/protocol/decoded.txt is the whole table.
import { join } from "node:path";
import { expect, it } from "vitest";
import { decodeLine } from "../../src/protocol/stream-json.ts";
import { streams, valuesOf } from "../streams/index.ts";

type Line = Record<string, any>;

const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
const ending = {
  type: "result",
  duration_ms: 10,
  duration_api_ms: 7,
  result: "text",
  session_id: "s",
  request_id: "r",
  usage,
  permission_denials: [{ tool: "shell", call_id: "c", reason: "no" }],
  background: [{ id: "b", command: "sleep", status: "running" }],
  missing_mcp_servers: [{ name: "m", status: "failed", problem: "p" }],
  budget: { turns: 1 },
  notices: [{ kind: "k", message: "m" }],
  total_cost_usd: 0.5,
  structured_output: { a: 1 },
};

/** Each kind of line once, as the streams of the original have it, and those that have everything. */
function examples(): Map<string, Line> {
  const found = new Map<string, Line>([
    ["result/success, whole", { ...ending, subtype: "success", is_error: false }],
    ["result/error, whole", { ...ending, subtype: "error", is_error: true, error_code: "E", answer: "a" }],
  ]);
  for (const line of streams.flatMap(valuesOf) as Line[]) {
    const tool = Object.keys(line["tool_call"] ?? {}).find((key) => key.endsWith("ToolCall")) ?? "";
    const key = [line["type"], line["subtype"], tool].filter(Boolean).join("/");
    if (!found.has(key)) found.set(key, line);
  }
  return found;
}

/** Without what is carried along unread. */
function understood(line: Line): Line {
  const { carried: _carried, raw: _raw, ...event } = decodeLine(line) as Line;
  return event;
}

function difference(one: Line, other: Line): string {
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const changed = keys.filter((key) => JSON.stringify(one[key]) !== JSON.stringify(other[key]));
  if (changed.includes("type")) return `is ${other["type"]}`;
  const said = changed.map((key) =>
    key in other ? `${key}=${JSON.stringify(other[key])?.slice(0, 120)}` : `no ${key}`,
  );
  return said.join(", ") || "the same";
}

/** In the line itself, and in the objects that it holds. */
function* fieldsOf(line: Line, path: readonly string[] = []): Generator<readonly string[]> {
  for (const [key, value] of Object.entries(line)) {
    yield [...path, key];
    if (path.length < 2 && value && typeof value === "object" && !Array.isArray(value))
      yield* fieldsOf(value, [...path, key]);
  }
}

function changed(line: Line, [key, ...rest]: readonly string[], value: unknown): Line {
  const copy = { ...line };
  if (rest.length > 0) copy[key!] = changed(line[key!], rest, value);
  else if (value === undefined) delete copy[key!];
  else copy[key!] = value;
  return copy;
}

it("the stream-json codec decodes lines as listed in the table", async () => {
  const rows: string[] = [];
  for (const [kind, line] of [...examples()].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const whole = understood(line);
    rows.push(`== ${kind} -> ${JSON.stringify(whole).slice(0, 700)}`);
    for (const path of fieldsOf(line)) {
      const ways = [undefined, 7, "x", null, []].map((value) =>
        difference(whole, understood(changed(line, path, value))),
      );
      if (new Set(ways).size > 1 || ways[0] !== "the same")
        rows.push(
          `  ${path.join(".")}: missing ${ways[0]} | 7 ${ways[1]} | "x" ${ways[2]} | null ${ways[3]} | [] ${ways[4]}`,
        );
    }
  }
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "decoded.txt"));
});
