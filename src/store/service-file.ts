// serve.json: where the service of this user listens, and the token that it wants. Owner-only.
import { rmSync } from "node:fs";
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

function serviceFile(configDir: string): string {
  return join(configDir, "serve.json");
}

/** Undefined: none runs. */
export function readService(configDir: string): ServiceInfo | undefined {
  const info = readJson(serviceFile(configDir)) as Partial<ServiceInfo> | undefined;
  if (typeof info?.pid !== "number" || typeof info.port !== "number" || typeof info.token !== "string")
    return undefined;
  return isAlive(info.pid) ? (info as ServiceInfo) : undefined;
}

export function saveService(configDir: string, info: ServiceInfo): void {
  replaceFile(serviceFile(configDir), `${JSON.stringify(info, null, 2)}\n`);
}

/** Unless another one runs by now. */
export function forgetService(configDir: string, pid: number): void {
  if (readJson(serviceFile(configDir))?.["pid"] === pid) rmSync(serviceFile(configDir), { force: true });
}
