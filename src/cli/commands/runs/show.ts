// `runs show`: prints one background run: its task, where it works, and its result.
import type { Fleet, RunRecord, WorkspaceSource } from "../../../serve/fleet.ts";
import { heldBack } from "../../../serve/fleet-status.ts";
import { patchOf } from "../../../serve/patch.ts";
import { homeDir } from "../../../store/config-dir.ts";
import { shortPath } from "../../../text/short-path.ts";
import { visible } from "../../../text/visible.ts";
import { byteSize, counted, dollars, duration, tokenCount } from "../../../view/numbers.ts";
import type { Invocation } from "../../main.ts";
import { tableLines } from "../../table.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { chosenRun, withFleet } from "./context.ts";
import { runJson, runStateText } from "./run-lines.ts";

export function showRun(invocation: Invocation, words: readonly string[]): Promise<number> {
  return withFleet(invocation, async (fleet) => {
    const run = await chosenRun(fleet, words, invocation);
    const worker = await workerOf(fleet, run);
    if (wantsJson(invocation)) return answerJson({ ...runJson(run), worker: worker ?? null });
    const patch = await patchOf(fleet, run);
    const reason = await heldBack(fleet, run);
    const rows: Row[] = [
      ...runRows(run, worker, homeDir(invocation.env)),
      ...(reason === undefined ? [] : [["waits", visible(reason)] satisfies Row]),
      ...(patch ? [patchRow(patch, run, invocation)] : []),
    ];
    const text = run.end ? `\n${visible(run.end.text).trimEnd()}\n` : "";
    return answer(`${tableLines(rows).join("\n")}\n${text}`);
  });
}

/** Returns the name of the worker that took the run last. */
export async function workerOf(fleet: Fleet, { id, attempts }: RunRecord): Promise<string | undefined> {
  if (attempts === 0) return undefined;
  const log = await fleet.entries(id, 0, attempts === 1 ? 5 : 10_000);
  return log.flatMap(({ entry }) => (entry.type === "leased" ? [entry.worker] : [])).at(-1);
}

type Row = [name: string, value: string];

function runRows(run: RunRecord, worker: string | undefined, home: string): Row[] {
  const { spec, end, createdAt, startedAt, endedAt } = run;
  const { pool, labels, priority } = spec.placement ?? {};
  const place = [pool, priority, ...Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`)];
  const used = end?.usage && `${tokenCount(end.usage.inputTokens)} in, ${tokenCount(end.usage.outputTokens)} out`;
  const cost = end?.costUsd === undefined ? undefined : dollars(end.costUsd);
  const time = startedAt === undefined ? undefined : duration((endedAt ?? Date.now()) - startedAt);
  const row = (name: string, value: string | undefined): Row[] =>
    value === undefined || value === "" ? [] : [[name, visible(value).replaceAll("\n", " ")]];
  return [
    ...row("run", run.id),
    ...row("state", end?.code === undefined ? runStateText(run) : `${runStateText(run)} (${end.code})`),
    ...row("agent", `${spec.cli} ${run.agent}`),
    ...row("prompt", spec.prompt.text),
    ...row("model", spec.request.model),
    ...row("workspace", shortPath(spec.request.workspace, home)),
    ...row("source", spec.source && sourceText(spec.source)),
    ...row("sender", run.sender),
    ...row("placement", place.filter((each) => each !== undefined).join(", ")),
    ...row("worker", worker && (run.attempts > 1 ? `${worker} (${counted(run.attempts, "attempt")})` : worker)),
    ...row("session", run.sessionId),
    ...row("created", new Date(createdAt).toISOString()),
    ...row("time", time),
    ...row("tokens", used),
    ...row("cost", cost),
    ...row("denied", end?.denials?.length ? counted(end.denials.length, "call") : undefined),
    ...row("branch", end?.branch),
  ];
}

function sourceText(source: WorkspaceSource): string {
  if (source.type === "git") return `git ${source.from}${source.ref === undefined ? "" : `#${source.ref}`}`;
  return source.type === "folder" ? `folder ${source.path}` : "upload";
}

function patchRow(patch: Buffer, run: RunRecord, { name }: Invocation): Row {
  const files = patch.toString("utf8").match(/^diff --git /gm)?.length ?? 0;
  return ["patch", `${counted(files, "file")}, ${byteSize(patch.length)}: ${name} runs patch ${run.id} --apply`];
}
