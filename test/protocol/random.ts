// Made-up events and values, the same for the same seed.
import type { AgentEvent, Outcome } from "../../src/protocol/event.ts";

export type Random = ReturnType<typeof random>;

export function random(seed: number) {
  let state = seed;
  // Mulberry32: small, and good enough to choose test data.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;
  const maybe = <Value>(key: string, value: Value) => (below(2) === 0 ? {} : { [key]: value });
  const shuffled = <Item>(items: readonly Item[]): Item[] => {
    const copy = [...items];
    for (let index = copy.length - 1; index > 0; index--) {
      const other = below(index + 1);
      [copy[index], copy[other]] = [copy[other]!, copy[index]!];
    }
    return copy;
  };
  const words = ["", "a", "ha", "é日本", "😀", "\ud800", "\u2028", "\n", '"', "\\", "__proto__", "}{", "ToolCall"];
  const text = () => Array.from({ length: 1 + below(4) }, () => pick(words)).join("");
  const number = () => pick([0, 1, -1, 0.5, 1784819288883, 1e21]);
  const value = (depth = 3): unknown => {
    const kind = below(depth > 0 ? 7 : 5);
    if (kind === 0) return null;
    if (kind === 1) return below(2) === 0;
    if (kind === 2) return number();
    if (kind < 5) return text();
    if (kind === 5) return Array.from({ length: below(4) }, () => value(depth - 1));
    return record(depth);
  };
  const record = (depth = 3): Record<string, unknown> =>
    Object.fromEntries(
      Array.from({ length: below(4) }, () => [pick(["x", "args", "result", "error", "y z"]), value(depth - 1)]),
    );

  const at = () => ({ at: 1784819288883 + below(1000) });
  const outcome = (): Outcome => ({
    kind: pick(["success", "error", "failure", "rejected", "async", "timeout"]),
    value: record(),
    ...maybe("siblings", { isBackground: true, pid: below(9), sandboxPolicy: record() }),
  });
  const ending = () => ({
    durationMs: below(9999),
    apiDurationMs: below(9999),
    ...maybe("requestId", text()),
    ...maybe("usage", { inputTokens: below(99), outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 5 }),
    ...maybe("denials", [{ tool: "shell", callId: text(), reason: text() }]),
  });
  const makers: ((session: string) => AgentEvent)[] = [
    (sessionId) => ({
      type: "init",
      sessionId,
      cwd: text(),
      permissionMode: pick(["default", "force"]),
      apiKeySource: "env",
      ...maybe("model", text()),
      ...maybe("tools", [text()]),
      ...maybe("mcpServers", [{ name: text(), status: "ready" }]),
    }),
    () => ({ type: "user", text: text() }),
    () => ({ type: "thinking", text: text(), ...(below(2) ? at() : {}) }),
    () => ({ type: "thinking_end", ...(below(2) ? at() : {}) }),
    () => ({ type: "text", text: text(), ...at() }),
    () => ({ type: "text_end", text: text(), ...maybe("modelCallId", text()) }),
    () => ({
      type: "tool_start",
      callId: text(),
      tool: pick(["read", "shell", "mcp", "new"]),
      args: record(),
      ...maybe("modelCallId", text()),
      ...maybe("startedAt", below(1e9)),
      ...at(),
    }),
    () => ({
      type: "tool_end",
      callId: text(),
      tool: pick(["read", "shell", "mcp", "new"]),
      args: record(),
      ...maybe("outcome", outcome()),
      ...maybe("modelCallId", text()),
      ...maybe("startedAt", below(1e9)),
      ...maybe("completedAt", below(1e9)),
      ...at(),
    }),
    () => ({
      type: "ask",
      id: pick([0, 7, "q"]),
      kind: "webSearchRequestQuery",
      query: record(),
      ...(below(2) ? at() : {}),
    }),
    () => ({ type: "answer", id: pick([0, 7, "q"]), kind: "createPlanRequestQuery", response: record() }),
    () => ({
      type: "retry",
      attempt: below(9),
      discards: below(2) === 0,
      ...maybe("reason", text()),
      ...maybe("delayMs", below(99)),
      ...at(),
    }),
    () => ({
      type: "notice",
      kind: "model_changed",
      message: text(),
      ...maybe("fields", { x: value(), model: text() }),
    }),
    () => ({ type: "done", text: text(), ...ending() }),
    () => ({
      type: "done",
      text: text(),
      structured: pick([null, false, 0, "", { bugs: [text()] }, [1]]),
      ...ending(),
    }),
    () => ({ type: "fail", message: text(), ...maybe("code", "MAX_TURNS"), ...ending() }),
    () => ({ type: "other", raw: { type: "telemetry", ...record() } }),
  ];

  /** A whole turn: segments of deltas, calls between them, retries that void what was open. */
  const turn = (session: string): AgentEvent[] => {
    const events: AgentEvent[] = [makers[0]!(session), { type: "user", text: text() }];
    let all = "";
    for (let segment = below(5); segment >= 0; segment--) {
      let said = "";
      for (let delta = below(4); delta > 0; delta--) {
        const more = text();
        said += more;
        events.push({ type: "text", text: more, ...at() });
        if (below(6) > 0) continue;
        events.push({ type: "retry", attempt: 1, discards: true, ...at() });
        said = "";
      }
      if (said !== "") events.push({ type: "text_end", text: said, ...(segment > 0 ? { modelCallId: "m" } : {}) });
      all += said;
      if (segment === 0) break;
      const call = { callId: text(), tool: "read", args: record(), modelCallId: "m" };
      events.push({ type: "tool_start", ...call, ...at() }, { type: "tool_end", ...call, outcome: outcome(), ...at() });
    }
    return [...events, { type: "done", text: all, ...ending() }];
  };

  return { below, pick, shuffled, value, turn, event: (session: string) => pick(makers)(session) };
}

/** Moves, adds, removes and replaces, a few times, somewhere in the line. */
export function disturb(line: any, dice: Random): any {
  let changed = line;
  for (let times = 1 + dice.below(3); times > 0; times--) changed = disturbOnce(changed, dice);
  return changed;
}

function disturbOnce(value: any, dice: Random): any {
  if (Array.isArray(value))
    return dice.below(4) === 0 ? [...value, dice.value()] : value.map((item) => disturbOnce(item, dice));
  if (typeof value !== "object" || value === null) return value;
  let entries = Object.entries(value);
  const inside = entries.filter(([, item]) => typeof item === "object" && item !== null);
  if (inside.length > 0 && dice.below(3) > 0) {
    const [chosen] = dice.pick(inside);
    return Object.fromEntries(entries.map(([key, item]) => [key, key === chosen ? disturbOnce(item, dice) : item]));
  }
  const at = dice.below(entries.length + 1);
  const kind = dice.below(4);
  if (kind === 0) entries = dice.shuffled(entries);
  if (kind === 1)
    entries.splice(at, 0, [
      dice.pick(["extra", "__proto__", "constructor", "fooToolCall", "toolCallId"]),
      dice.value(),
    ]);
  if (kind === 2 && entries[at]?.[0] !== "type") entries.splice(at, 1);
  if (kind === 3 && entries[at] && entries[at][0] !== "type") entries[at] = [entries[at][0], dice.value()];
  return JSON.parse(`{${entries.map(([key, item]) => `${JSON.stringify(key)}:${JSON.stringify(item)}`).join()}}`);
}
