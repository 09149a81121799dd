// What goes wrong between us and a server of NATS, in words for the user.

import { UserError } from "../../../protocol/error-codes.ts";
import { programName } from "../../../text/program-name.ts";

/** Refused because another message came first. */
const wrongLastSequence = [10071, 10164];

const isFull = /exceeded|insufficient|no space|maximum (bytes|messages)/i;

type Foreign = Error & { code?: unknown; status?: number; cause?: unknown };

export function isWrongSequence(error: unknown): boolean {
  return wrongLastSequence.includes(Number((error as Foreign).code));
}

/** The same again may go well: the server is away, busy, or just starting. */
export function isPassing(error: unknown): boolean {
  const { name, status, message } = error as Foreign;
  if (error instanceof UserError || name === "PermissionViolationError" || isFull.test(message)) return false;
  if (name === "JetStreamApiError" || name === "JetStreamStatusError") return status === 503;
  return ["TimeoutError", "NoRespondersError", "RequestError", "ConnectionError", "JetStreamError"].includes(name);
}

export function isClosed(error: unknown): boolean {
  return ["ClosedConnectionError", "DrainingConnectionError"].includes((error as Foreign).name);
}

/** `where`: the address, without who logs in. */
export function fleetError(error: unknown, where: string): UserError {
  if (error instanceof UserError) return error;
  const { name, message } = error as Foreign;
  const text = `${message} ${String((error as Foreign).cause ?? "")}`;
  if (name === "PermissionViolationError" || /permissions violation/i.test(text))
    return new UserError(
      "FLEET_REFUSED",
      `The fleet at ${where} does not permit this: ${oneLine(message)}. The permissions it needs are listed by '${programName()} help decisions/fleet'.`,
    );
  if (name === "AuthorizationError" || name === "UserAuthenticationExpiredError" || /authoriz|authentic/i.test(text))
    return new UserError(
      "FLEET_REFUSED",
      `The fleet at ${where} rejected the login. Use nats://user:password@…, nats://token@…, or a file in COURSER_FLEET_CREDS.`,
    );
  if (/jetstream not enabled|JetStreamNotEnabled/i.test(`${name} ${text}`)) return noJetStream(where);
  if (isFull.test(text))
    return new UserError(
      "FLEET_FULL",
      `The fleet at ${where} is full: ${oneLine(message)}. Give the server more space (max_file_store), or delete old runs.`,
    );
  if (/certificate|self.signed|altname|ssl|tls/i.test(text))
    return new UserError(
      "FLEET_REFUSED",
      `The certificate of the fleet at ${where} was not accepted: ${oneLine(message)}. Set COURSER_FLEET_CA to the file of its certificate authority.`,
    );
  return unreachable(where, oneLine(message));
}

export function unreachable(where: string, why: string): UserError {
  return new UserError(
    "FLEET_UNREACHABLE",
    `The fleet at ${where} cannot be reached: ${why}. Is a NATS server running there? To start one: nats-server -js -a 127.0.0.1`,
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
