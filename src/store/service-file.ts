// serve.json: the address and the token of this user's service. Owner-only. A service for a fleet has its own file, one per fleet.
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { tryOr } from "../text/try-or.ts";
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

/** Returns the path of the file that describes a running service; `fleetUrl` is the fleet that it serves. */
export function serviceFile(configDir: string, fleetUrl?: string): string {
  if (fleetUrl === undefined) return join(configDir, "serve.json");
  const address = fleetUrl.replace(/\/\/[^/@]*@/g, "//").replace(/[^\w.-]+/g, "_");
  return join(fleetServices(configDir), `${address.slice(0, 100)}.json`);
}

/** Returns the folder for the services of fleets. */
export function fleetServices(configDir: string): string {
  return join(configDir, "services");
}

/** Reads the file of a running service. Returns undefined if none runs. */
export function readService(file: string): ServiceInfo | undefined {
  const info = readInfo(file);
  return info && isRunning(info) ? info : undefined;
}

/** Returns the entry left by a killed service. A service that exits normally leaves none. */
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

/** Returns whether a process was killed but not reaped; in a container without an init it stays a zombie. */
function isZombie(pid: number): boolean {
  return tryOr(() => /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")), false);
}

/** Records this service in the file. Returns false if another one was faster; `deadPid` is one that is known not to answer. */
export function claimService(file: string, info: ServiceInfo, deadPid?: number): boolean {
  makeFolder(dirname(file));
  return withFileLock(`${file}.lock`, () => {
    const other = readService(file);
    if (other && other.pid !== deadPid && other.pid !== info.pid) return false;
    replaceFile(file, `${JSON.stringify(info, null, 2)}\n`);
    return true;
  });
}

/** Removes the file, unless it belongs to another service by now. */
export function forgetService(file: string, pid: number): void {
  if (readJson(file)?.["pid"] === pid) rmSync(file, { force: true });
}
