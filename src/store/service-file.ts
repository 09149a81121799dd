// serve.json: where the service of this user listens, and the token that it wants. Owner-only.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "./file-lock.ts";
import { readJson, replaceFile } from "./json-file.ts";

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
  const info = readJson(serviceFile(configDir)) as Partial<ServiceInfo> | undefined;
  if (typeof info?.pid !== "number" || typeof info.port !== "number" || typeof info.token !== "string")
    return undefined;
  return isAlive(info.pid) && !isZombie(info.pid) ? (info as ServiceInfo) : undefined;
}

/** Killed, and not yet buried: in a container without an init it stays so. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false; // not Linux
  }
}

export function saveService(configDir: string, info: ServiceInfo): void {
  replaceFile(serviceFile(configDir), `${JSON.stringify(info, null, 2)}\n`);
}

/** Unless another one runs by now. */
export function forgetService(configDir: string, pid: number): void {
  if (readJson(serviceFile(configDir))?.["pid"] === pid) rmSync(serviceFile(configDir), { force: true });
}
