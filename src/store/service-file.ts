// serve.json: where the service of this user listens, and the token that it wants. Owner-only. A service over a fleet has a file
// of its own, one for each fleet.
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
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

/** `fleetUrl`: of the fleet that it serves. */
export function serviceFile(configDir: string, fleetUrl?: string): string {
  if (fleetUrl === undefined) return join(configDir, "serve.json");
  const address = fleetUrl.replace(/\/\/[^/@]*@/g, "//").replace(/[^\w.-]+/g, "_");
  return join(fleetServices(configDir), `${address.slice(0, 100)}.json`);
}

/** Where those of fleets lie. */
export function fleetServices(configDir: string): string {
  return join(configDir, "services");
}

/** Undefined: none runs. */
export function readService(file: string): ServiceInfo | undefined {
  const info = readInfo(file);
  return info && isRunning(info) ? info : undefined;
}

/** What a service that was killed left behind. One that ended in order leaves nothing. */
export function readKilledService(file: string): ServiceInfo | undefined {
  const info = readInfo(file);
  return info && !isRunning(info) ? info : undefined;
}

function readInfo(file: string): ServiceInfo | undefined {
  const info = readJson(file) as Partial<ServiceInfo> | undefined;
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
export function claimService(file: string, info: ServiceInfo, gone?: number): boolean {
  makeFolder(dirname(file));
  return withFileLock(`${file}.lock`, () => {
    const other = readService(file);
    if (other && other.pid !== gone && other.pid !== info.pid) return false;
    replaceFile(file, `${JSON.stringify(info, null, 2)}\n`);
    return true;
  });
}

/** Unless another one runs by now. */
export function forgetService(file: string, pid: number): void {
  if (readJson(file)?.["pid"] === pid) rmSync(file, { force: true });
}
