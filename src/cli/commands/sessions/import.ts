// `sessions import`: imports sessions of other agent CLIs as chats, and reports what could not be carried over.
import { statSync } from "node:fs";
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import {
  type ForeignTool,
  findForeignSessions,
  foreignTools,
  type ListedSession,
  listForeignSessions,
} from "../../../sdk/sessions/index.ts";
import { homeDir } from "../../../store/config-dir.ts";
import { ageOf } from "../../../text/age.ts";
import { shortPath } from "../../../text/short-path.ts";
import { visible } from "../../../text/visible.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer, answerJson } from "../answer.ts";
import { contextOf } from "./context.ts";
import { type ImportReport, importedId, importFile, readSession } from "./import-session.ts";

export async function importSessions(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { flags } = invocation.line;
  const from = flagText(flags, "from");
  const tools = from === undefined ? foreignTools : [from as ForeignTool];
  if (words.length === 0 && !flags.has("all")) throw noSessionError(invocation.name);
  const sessions =
    words.length === 0
      ? listForeignSessions(invocation.env, tools)
      : words.flatMap((word) => findForeignSessions(word, invocation.env, tools));
  const isJson = flagText(flags, "format") === "json";
  if (flags.has("all") && !flags.has("yes")) return list(invocation, sessions, isJson);

  if (sessions.length === 0 && !isJson) return answer(noSessions);
  const reports = sessions.map((session) => importOne(invocation, session));
  if (isJson) await answerJson({ sessions: reports });
  else await answer(reports.map((report) => reportText(report, invocation)).join("\n"));
  return reports.some((report) => report.status === "failed") ? 1 : 0;
}

const noSessions = "No sessions of other agents were found on this machine.\n";

function noSessionError(name: string): UserError {
  return usageError(
    `'sessions import' needs a session: a file, a directory, or its CLI's own id. Example: ${name} sessions import ~/.claude/projects/…/….jsonl. To list those on this machine: ${name} sessions import --all`,
  );
}

/** Reports a session that cannot be read instead of throwing, so that the others are still imported. */
function importOne(invocation: Invocation, session: ListedSession): ImportReport {
  try {
    return importFile(session, contextOf(invocation));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { status: "failed", tool: session.tool, path: session.path, message: error.message, code: error.code };
  }
}

function reportText(report: ImportReport, { name }: Invocation): string {
  if (report.status === "failed") return `Not imported: ${report.path}\n  ${report.message} [${report.code}]\n`;
  const source = `${report.tool} session ${report.sourceId}`;
  if (report.status === "empty") return `Not imported: ${source} (it is empty)\n`;
  const counts = `${report.messages} message${report.messages === 1 ? "" : "s"} in ${report.turns} turn${report.turns === 1 ? "" : "s"}`;
  const heads = {
    imported: `Imported ${source}: ${visible(report.title)}`,
    updated: `Updated, ${source}: ${visible(report.title)}`,
    "already imported": `Already imported, ${source}: ${visible(report.title)}`,
  };
  const lines = [
    heads[report.status],
    `  chat       ${report.id}`,
    `  workspace  ${visible(report.workspace)}`,
    `  carried    ${counts}`,
    ...report.losses.map(({ message }, index) => `  ${index === 0 ? "lost     " : "         "}  ${message}`),
    ...(report.note === undefined ? [] : [`  note       ${report.note}`]),
    `  resume     ${name} --resume ${report.id}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** The most sessions that the text output opens and lists; JSON has all. */
const maxShown = 50;
const maxBytes = 8 << 20;

/** Lists what could be imported, newest first, without importing it. */
async function list(invocation: Invocation, sessions: readonly ListedSession[], isJson: boolean): Promise<number> {
  const { configDir, workspace } = contextOf(invocation);
  const shown = (isJson ? sessions : sessions.slice(0, maxShown)).map((session) => {
    const bytes = statSync(session.path, { throwIfNoEntry: false })?.size ?? 0;
    const summary = bytes > maxBytes ? undefined : tryReading(session);
    return {
      tool: session.tool,
      id: summary?.id ?? null,
      title: summary?.title ?? null,
      workspace: summary?.workspace ?? null,
      messages: summary?.messages.length ?? null,
      updatedAt: session.updatedAt,
      path: session.path,
      imported: summary ? importedId({ configDir, workspace }, summary) : null,
    };
  });
  if (isJson) return answerJson({ sessions: shown });
  const { env, name } = invocation;
  if (sessions.length === 0) return answer(noSessions);
  const rows = shown.map((each) => {
    const mark = each.imported === null ? "" : " (imported)";
    return `${each.tool.padEnd(7)} ${ageOf(each.updatedAt, Date.now()).padStart(9)}  ${visible(each.title ?? "(large, not opened)")}${mark}\n${" ".repeat(19)}${shortPath(each.path, homeDir(env))}`;
  });
  const exit = await answer(`${rows.join("\n")}\n`);
  const more = sessions.length > shown.length ? ` (${shown.length} shown)` : "";
  writeStderr(
    `${sessions.length} session${sessions.length === 1 ? "" : "s"}${more}. Nothing was imported. One: ${name} sessions import <file>. All: ${name} sessions import --all --yes\n`,
  );
  return exit;
}

function tryReading(session: ListedSession) {
  try {
    return readSession(session);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
