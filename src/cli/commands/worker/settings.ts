// Parses the flags of a worker.
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { type UserError, usageError } from "../../../protocol/error-codes.ts";
import { homeDir } from "../../../store/config-dir.ts";
import { flagList, flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { labelsOf } from "../../placement.ts";

export type WorkerSettings = {
  name: string;
  pool?: string;
  labels: Readonly<Record<string, string>>;
  concurrency: number;
  singleUse: boolean;
  idleMs?: number;
  graceMs: number;
  leaseMs?: number;
  dataDir: string;
  keepFailed: boolean;
  cacheLimits: { bytes: number; ageMs: number };
};

const usualCache = { gigabytes: 20, days: 30 };
const dayMs = 24 * 3_600_000;

const maxConcurrency = 256;

export function workerSettings({ line: { flags }, env }: Invocation): WorkerSettings {
  const pool = flagText(flags, "pool");
  const name = flagText(flags, "name") ?? `${hostname()}-${process.pid}`;
  if (!/^[\w.@:-]{1,128}$/.test(name)) throw invalidFlagError("--name", name, "letters, digits and . _ - @ :");
  if (pool !== undefined && !/^[\w-]{1,64}$/.test(pool))
    throw invalidFlagError("--pool", pool, "letters, digits, - and _");
  const idle = seconds(
    flagText(flags, "idle-release-timeout") ?? env["CURSOR_WORKER_IDLE_RELEASE_TIMEOUT"],
    "--idle-release-timeout",
  );
  const lease = seconds(flagText(flags, "lease-time"), "--lease-time");
  return {
    name,
    ...(pool !== undefined && { pool }),
    labels: labelsOf(flagList(flags, "label")) ?? {},
    concurrency: concurrencyOf(flagText(flags, "concurrency")),
    singleUse: flags.has("single-use"),
    // 0 means that the worker never ends for being idle, as in the original.
    ...(idle && { idleMs: idle }),
    graceMs: seconds(flagText(flags, "grace"), "--grace") ?? 25_000,
    ...(lease && { leaseMs: lease }),
    dataDir: dataDirOf(flagText(flags, "data-dir"), env),
    keepFailed: flags.has("keep-failed"),
    cacheLimits: {
      bytes: (parseAmount(flagText(flags, "cache-size"), "--cache-size", "gigabytes") ?? usualCache.gigabytes) * 1e9,
      ageMs: (parseAmount(flagText(flags, "cache-days"), "--cache-days", "days") ?? usualCache.days) * dayMs,
    },
  };
}

export function dataDirOf(flagValue: string | undefined, env: NodeJS.ProcessEnv): string {
  if (flagValue !== undefined) return resolve(flagValue);
  return join(env["XDG_CACHE_HOME"] || join(homeDir(env), ".cache"), "courser", "worker");
}

function concurrencyOf(text = "1"): number {
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= maxConcurrency) return Number(text);
  throw invalidFlagError("--concurrency", text, `a number from 1 to ${maxConcurrency}`);
}

function seconds(text: string | undefined, flag: string): number | undefined {
  const parsedSeconds = parseAmount(text, flag, "seconds");
  return parsedSeconds === undefined ? undefined : parsedSeconds * 1000;
}

function parseAmount(text: string | undefined, flag: string, unit: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,7}(\.\d{1,3})?$/.test(text)) return Number(text);
  throw invalidFlagError(flag, text, `a number of ${unit}`);
}

function invalidFlagError(flag: string, value: string, what: string): UserError {
  return usageError(`${flag} '${value}' must be ${what}.`);
}
