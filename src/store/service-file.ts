// serve.json: where the service of this user listens, and the token that it wants. Owner-only.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isAlive, withFileLock } from "./file-lock.ts";
import { makeFolder, readJson, replaceFile } from "./json-file.ts";

export type ServiceInfo = {
  pid: number;
  host: string;
  port: number;
  token: string;
  startedAt: number;
  version: string;
};

export function serviceFile(configDir: string): string {
  return join(configDir, "serve.json");
}

/** Undefined: none runs. */
export function readService(configDir: string): ServiceInfo | undefined {
  const info = readInfo(configDir);
  return info && isRunning(info) ? info : undefined;
}

/** What a service that was killed left behind. One that ended in order leaves nothing. */
export function readKilledService(configDir: string): ServiceInfo | undefined {
  const info = readInfo(configDir);
  return info && !isRunning(info) ? info : undefined;
}

function readInfo(configDir: string): ServiceInfo | undefined {
  const info = readJson(serviceFile(configDir)) as Partial<ServiceInfo> | undefined;
  const isWhole = typeof info?.pid === "number" && typeof info.port === "number" && typeof info.token === "string";
  return isWhole ? (info as ServiceInfo) : undefined;
}

function isRunning({ pid }: ServiceInfo): boolean {
  return isAlive(pid) && !isZombie(pid);
}

/** Killed, and not yet buried: in a container without an init it stays so. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false; // not Linux
  }
}

/** False: another one was quicker. `gone`: the process of one that is known not to answer. */
export function claimService(configDir: string, info: ServiceInfo, gone?: number): boolean {
  const file = serviceFile(configDir);
  makeFolder(configDir);
  return withFileLock(`${file}.lock`, () => {
    const other = readService(configDir);
    if (other && other.pid !== gone && other.pid !== info.pid) return false;
    replaceFile(file, `${JSON.stringify(info, null, 2)}\n`);
    return true;
  });
}

/** Unless another one runs by now. */
export function forgetService(configDir: string, pid: number): void {
  if (readJson(serviceFile(configDir))?.["pid"] === pid) rmSync(serviceFile(configDir), { force: true });
}
