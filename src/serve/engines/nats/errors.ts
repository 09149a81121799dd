// Classifies the errors of the NATS client and server, and turns them into messages for the user.

import { UserError } from "../../../protocol/error-codes.ts";
import { programName } from "../../../text/program-name.ts";

type Foreign = Error & { code?: unknown; status?: number; cause?: unknown };

/**
 * `passing`: a retry may succeed, because a server is away or busy, or a leader is being elected. `overtaken`: another message
 * came first. `refused`: this user lacks the permission. `full`: there is no space left. `unsuitable`: the server is not set up
 * for it. `closed`: this process closed the connection. `fault`: the request was invalid.
 */
type Meaning = "passing" | "overtaken" | "refused" | "full" | "unsuitable" | "closed" | "fault";

/** Creates the error for a reply from a replica that has not caught up with its leader. */
export const staleRead = () => Object.assign(new Error("a replica is behind its leader"), { name: "StaleReadError" });

/** Client errors by name; any other is a fault. An error with a cause is classified by its cause. */
const byName: Readonly<Record<string, Meaning>> = {
  // No reply in time: the leader died with the request, or is slow.
  TimeoutError: "passing",
  // No listener: during an election, a stream and its consumers have no leader.
  NoResponders: "passing",
  NoRespondersError: "passing",
  // The client reports silence as a server without JetStream. If a server really says so, the cause carries its code.
  JetStreamNotEnabled: "passing",
  RequestError: "passing",
  ConnectionError: "passing",
  ProtocolError: "passing",
  StaleReadError: "passing",
  // Thrown for an acknowledgement that names no stream.
  JetStreamError: "passing",
  PermissionViolationError: "refused",
  AuthorizationError: "refused",
  UserAuthenticationExpiredError: "refused",
  ClosedConnectionError: "closed",
  DrainingConnectionError: "closed",
};

/** Replies of the JetStream API by code; other codes are classified by status. */
const byCode: ReadonlyMap<number, Meaning> = new Map(
  (
    [
      // A cluster without a leader, or whose servers are still finding each other: incomplete, not assigned, not available,
      // not the leader, no peers to place it on, Raft, offline, still in process, too many requests.
      ["passing", [10004, 10005, 10007, 10008, 10009, 10041, 10118, 10119, 10158, 10167]],
      // Wrong last sequence, or wrong last id.
      ["overtaken", [10070, 10071, 10164]],
      // Limits of the account: its memory and storage, and its number of streams and consumers.
      ["full", [10002, 10023, 10026, 10027, 10028, 10047]],
      // No JetStream for the server or the account, no such account, replicas without a cluster, a missing feature, or streams that
      // do not exist or belong to another user.
      ["unsuitable", [10006, 10010, 10035, 10036, 10039, 10058, 10059, 10065, 10074, 10076]],
    ] as const
  ).flatMap(([meaning, codes]) => codes.map((code) => [code, meaning] as const)),
);

const isFull = /exceeded|insufficient|no space|maximum (bytes|messages)/i;
const passingStatuses = [408, 429, 503];

export function meaningOf(error: unknown): Meaning {
  const { name, code, status, message, cause } = error as Foreign;
  const isOfApi = typeof code === "number" && code >= 10_000;
  if (isOfApi && byCode.has(code)) return byCode.get(code)!;
  if (isFull.test(message)) return "full";
  if (isOfApi) return passingStatuses.includes(status ?? 0) ? "passing" : "fault";
  if (name === "JetStreamStatusError") return passingStatuses.includes(Number(code)) ? "passing" : "fault";
  if (cause instanceof Error && (name in byName || cause.name in byName)) return meaningOf(cause);
  return byName[name] ?? "fault";
}

export function isPassing(error: unknown): boolean {
  return !(error instanceof UserError) && meaningOf(error) === "passing";
}

/** `where` is the address without the login. */
export function fleetError(error: unknown, where: string): UserError {
  if (error instanceof UserError) return error;
  const text = `${(error as Foreign).message} ${String((error as Foreign).cause ?? "")}`;
  if (/permissions violation/i.test(text)) return notPermitted(where, (error as Foreign).message);
  const because = oneLine((error as Foreign).message);
  // The client has no error classes for failures while connecting.
  if (/certificate|self.signed|altname|ssl|tls/i.test(text))
    return new UserError(
      "FLEET_REFUSED",
      `The certificate of the fleet at ${where} was not accepted: ${because}. Set COURSER_FLEET_CA to the file of its certificate authority.`,
    );
  switch (/authoriz|authentic/i.test(text) ? "refused" : meaningOf(error)) {
    case "refused":
      return new UserError(
        "FLEET_REFUSED",
        `The fleet at ${where} rejected the login. Use nats://user:password@…, nats://token@…, or a file in COURSER_FLEET_CREDS.`,
      );
    case "full":
      return new UserError(
        "FLEET_FULL",
        `The fleet at ${where} is full: ${because}. Give the server more space (max_file_store), or delete old runs.`,
      );
    case "unsuitable":
      return unsuitableServerError(error as Foreign, where);
    case "closed":
      return unreachableError(where, "the connection was closed");
    case "passing":
    case "overtaken":
    case "fault":
      return isSilence(error as Foreign) ? leaderlessError(where) : unreachableError(where, because);
  }
}

function notPermitted(where: string, message: string): UserError {
  return new UserError(
    "FLEET_REFUSED",
    `The fleet at ${where} does not permit this: ${oneLine(message)}. The permissions it needs are listed by '${programName()} help decisions/fleet'.`,
  );
}

function unsuitableServerError({ code, message, cause }: Foreign, where: string): UserError {
  const number = Number(code ?? (cause as Foreign | undefined)?.code);
  if (number === 10_039 || number === 10_076) return noJetStream(where);
  const why: Record<number, string> = {
    10059: "has no streams of this fleet: they were deleted, or this user may only use a fleet that exists",
    10074: "is not a cluster, so it cannot keep several replicas. Leave out ?replicas=",
  };
  const because = why[number] ?? `cannot keep this fleet: ${oneLine(message)}`;
  return new UserError("FLEET_UNSUITABLE", `The server at ${where} ${because}.`);
}

function isSilence({ name, code }: Foreign): boolean {
  return ["JetStreamNotEnabled", "NoResponders", "NoRespondersError"].includes(name) || code === 10_008;
}

export function unreachableError(where: string, why: string): UserError {
  const help = where.includes(",") ? "" : " To start one: nats-server -js -a 127.0.0.1";
  return new UserError(
    "FLEET_UNREACHABLE",
    `The fleet at ${where} cannot be reached: ${why}. Is a NATS server running there?${help}`,
  );
}

function leaderlessError(where: string): UserError {
  return new UserError(
    "FLEET_UNREACHABLE",
    `The fleet at ${where} does not answer: its streams have no leader. A cluster needs more than half of its servers to elect one.`,
  );
}

export function noJetStream(where: string): UserError {
  return new UserError(
    "FLEET_UNSUITABLE",
    `The server at ${where} has no JetStream, which stores the runs. Start it with: nats-server -js`,
  );
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(/\.$/, "").trim();
}
