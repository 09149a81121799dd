// Adapters whose CLIs are small real programs, and what they say.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { type AdapterOptions, CursorAgentModelAdapter, type TurnRequest } from "../../src/adapter/adapter.ts";
import type { AdapterConfig, AdapterModel } from "../../src/adapter/config.ts";
import type { SentTurn } from "../../src/adapter/turn-attempts.ts";
import type { TurnEvent } from "../../src/protocol/turn-contract.ts";

export const fixture = join(import.meta.dirname, "fixtures/cli.sh");

/** A folder that is gone after the tests of a file. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-adapter-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A model whose CLI plays a scenario of fixtures/cli.sh. */
export function model(scenario: string | readonly string[], more: Partial<AdapterModel> = {}): AdapterModel {
  return {
    provider: "cursor-agent-cli",
    command: fixture,
    args: typeof scenario === "string" ? [scenario] : [...scenario],
    timeoutMs: 20_000,
    closeStdinAfterMs: 300,
    ...more,
  };
}

export function adapterOf(
  models: AdapterConfig["models"],
  { profiles, ...options }: AdapterOptions & { profiles?: AdapterConfig["profiles"] } = {},
): CursorAgentModelAdapter {
  return new CursorAgentModelAdapter({ models, ...(profiles && { profiles }) }, options);
}

export const hello = [{ role: "user", content: "hi" }];
export const note = {
  name: "note",
  schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

export type Told = {
  events: TurnEvent[];
  types: string[];
  text: string;
  last: TurnEvent;
  turn: SentTurn;
};

/** Sends one turn to the default model, and reads it to its end. */
export async function tell(adapter: CursorAgentModelAdapter, request: Partial<TurnRequest> = {}): Promise<Told> {
  const session = await adapter.createSession();
  const turn = adapter.sendTurn(session, { messages: hello, ...request });
  const events: TurnEvent[] = [];
  for await (const event of turn) events.push(event);
  return {
    events,
    types: events.map(({ type }) => type),
    text: textOf(events),
    last: events.at(-1)!,
    turn,
  };
}

export function textOf(events: readonly { type: string; data: unknown }[]): string {
  return events
    .filter(({ type }) => type === "assistant_delta")
    .map(({ data }) => (data as { content: string }).content)
    .join("");
}
