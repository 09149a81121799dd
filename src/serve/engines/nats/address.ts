// Parses a fleet's address: nats://[user:password@ | token@]host[:port][,host…][?prefix=P&replicas=N&timeout=S], or tls://… likewise.
// Credential files are named by environment variables, so that addresses do not reveal them.
import { UserError } from "../../../protocol/error-codes.ts";

export type Address = {
  servers: string[];
  isTls: boolean;
  user?: string;
  password?: string;
  token?: string;
  /** Separates several fleets that share a server. */
  prefix: string;
  /** How many servers of a cluster store each message. */
  replicas: number;
  /** How long readers keep retrying when no server can be reached. Absent if the address does not set it. */
  timeoutMs?: number;
  files: { creds?: string; ca?: string; cert?: string; key?: string };
};

/** The timeout for addresses that do not set one. */
export const usualTimeoutMs = 300_000;

const settings = ["prefix", "replicas", "timeout"];

export function isFleetAddress(url: string): boolean {
  return /^(nats|tls):\/\//.test(url);
}

export function readAddress(url: string, env: NodeJS.ProcessEnv): Address {
  const [, scheme, login, hosts, query] = /^(nats|tls):\/\/(?:([^@/?]*)@)?([^@/?]+)\/?(?:\?(.*))?$/.exec(url) ?? [];
  if (hosts === undefined)
    throw new UserError(
      "USAGE",
      `'${withoutLogin(url)}' is not the address of a fleet, such as nats://127.0.0.1:4222, or nats://a:4222,b:4222 for a cluster.`,
    );
  const options = new URLSearchParams(query);
  for (const name of options.keys())
    if (!settings.includes(name))
      throw new UserError("USAGE", `The URL of a fleet has no parameter '${name}'. Available: ${settings.join(", ")}.`);
  const prefix = options.get("prefix") ?? "courser";
  if (!/^[\w-]{1,32}$/.test(prefix))
    throw new UserError(
      "USAGE",
      `The prefix of a fleet may only contain letters, digits, - and _: '${prefix}' does not fit.`,
    );
  const replicas = Number(options.get("replicas") ?? 1);
  if (![1, 3, 5].includes(replicas))
    throw new UserError(
      "USAGE",
      "The number of replicas of a fleet is 1, 3 or 5: on as many servers of the cluster it is stored.",
    );
  const timeout = options.get("timeout");
  if (timeout !== null && !/^\d{1,7}$/.test(timeout))
    throw new UserError("USAGE", `The timeout of a fleet is a number of seconds: '${timeout}' does not fit.`);
  const [user, password] = login?.split(":").map(decodeURIComponent) ?? [];
  return {
    servers: hosts.split(","),
    isTls: scheme === "tls",
    ...(password !== undefined ? { user: user!, password } : user ? { token: user } : {}),
    prefix,
    replicas,
    ...(timeout !== null && { timeoutMs: Number(timeout) * 1000 }),
    files: Object.fromEntries(
      (["creds", "ca", "cert", "key"] as const).flatMap((name) => {
        const file = env[`COURSER_FLEET_${name.toUpperCase()}`];
        return file ? [[name, file]] : [];
      }),
    ),
  };
}

/** Removes the logins from a list of addresses, so that it can be shown. A password may hold any character but a comma. */
export function withoutLogin(url: string): string {
  return url.replace(/(^|,)(\w+:\/\/)?[^,]*@/g, "$1$2");
}
