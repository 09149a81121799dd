// What the errors of the client mean: none is left out, and none that passes with an election ends a run.
import { jserrors } from "@nats-io/jetstream/internal";
import { errors, NoRespondersError, PermissionViolationError, RequestError } from "@nats-io/transport-node";
import { expect, it } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import { fleetError, isPassing, meaningOf } from "../../src/serve/engines/nats/errors.ts";

const { JetStreamApiError, JetStreamNotEnabled } = jserrors;
const api = (code: number, status: number, description = "said by the server") =>
  new JetStreamApiError({ err_code: code, code: status, description });
const named = (name: string, message: string) => Object.assign(new Error(message), { name });
const silence = () => new RequestError("no responders", { cause: new NoRespondersError("x") });

it("every error class of the NATS client has one of our error codes", () => {
  const classes = { ...errors, ...jserrors } as unknown as Record<string, new (...words: never[]) => Error>;
  const faults = Object.entries(classes).flatMap(([name, Class]) => {
    if (/Api|NotFound/.test(name)) return [];
    return meaningOf(new Class("x" as never, "y" as never, "z" as never)) === "fault" ? [name] : [];
  });
  expect(faults.sort()).toEqual([
    "InvalidArgumentError",
    "InvalidNameError",
    "InvalidOperationError",
    "InvalidSubjectError",
  ]);
});

it.each([
  ["nobody answers while a leader is elected", new JetStreamNotEnabled("x", { cause: silence() }), "passing"],
  ["a request that nobody answers", silence(), "passing"],
  ["the server says that it has no JetStream", new JetStreamNotEnabled("x", { cause: api(10_039, 503) }), "unsuitable"],
  ["not the leader", api(10_009, 500), "passing"],
  ["temporarily unavailable", api(10_008, 503), "passing"],
  ["a stream whose servers are away", api(10_118, 500), "passing"],
  [
    "a status of a pull",
    Object.assign(new Error("no responders"), { name: "JetStreamStatusError", code: 503 }),
    "passing",
  ],
  ["wrong last sequence", api(10_071, 400), "overtaken"],
  ["resources exceeded", api(10_047, 500, "storage resources exceeded"), "full"],
  ["a stream that is full", api(10_077, 503, "maximum bytes exceeded"), "full"],
  ["a code that is new", api(19_999, 503), "passing"],
  ["a code that is new and final", api(19_999, 400), "fault"],
  [
    "a request that is not permitted",
    new RequestError("x", { cause: new PermissionViolationError("x", "publish", "a") }),
    "refused",
  ],
] as const)("an error of NATS is translated to our error: %s", (_name, error, meaning) => {
  expect(meaningOf(error)).toBe(meaning);
  expect(isPassing(error)).toBe(meaning === "passing");
});

it("JetStream error codes map to our error codes as listed, and any other is a fault", () => {
  const codes: Record<string, number[]> = {};
  for (let code = 10_000; code < 10_200; code++) (codes[meaningOf(api(code, 400))] ??= []).push(code - 10_000);
  expect({ ...codes, fault: codes["fault"]!.length }).toEqual({
    passing: [4, 5, 7, 8, 9, 41, 118, 119, 158, 167],
    overtaken: [70, 71, 164],
    full: [2, 23, 26, 27, 28, 47],
    unsuitable: [6, 10, 35, 36, 39, 58, 59, 65, 74, 76],
    fault: 171,
  });
  const statuses = [400, 408, 429, 500, 503];
  expect(statuses.filter((status) => isPassing(api(19_999, status)))).toEqual([408, 429, 503]);
  const pull = (code: number) => Object.assign(new Error("x"), { name: "JetStreamStatusError", code });
  expect(statuses.filter((status) => isPassing(pull(status)))).toEqual([408, 429, 503]);
  for (const words of ["limit exceeded", "insufficient storage", "no space left", "maximum messages", "maximum bytes"])
    expect(meaningOf(new Error(words)), words).toBe("full");
});

it.each<[unknown, string, RegExp]>([
  [new UserError("USAGE", "own"), "USAGE", /^own$/],
  [
    new PermissionViolationError("Permissions Violation\n for x.", "publish", "a"),
    "FLEET_REFUSED",
    /this: \S.* for x\. The/,
  ],
  [
    new Error("self-signed certificate."),
    "FLEET_REFUSED",
    /not accepted: self-signed certificate\. Set COURSER_FLEET_CA/,
  ],
  [new Error("altname does not match"), "FLEET_REFUSED", /COURSER_FLEET_CA/],
  [new Error("Authorization Violation"), "FLEET_REFUSED", /rejected the login\. .*COURSER_FLEET_CREDS/],
  [new Error("user authentication expired"), "FLEET_REFUSED", /rejected the login/],
  [new Error("maximum bytes exceeded"), "FLEET_FULL", /is full: maximum bytes exceeded\. Give/],
  [api(10_039, 503), "FLEET_UNSUITABLE", /has no JetStream/],
  [api(10_076, 503), "FLEET_UNSUITABLE", /has no JetStream/],
  [api(10_059, 404), "FLEET_UNSUITABLE", /nats:\/\/a has no streams of this fleet/],
  [api(10_074, 400), "FLEET_UNSUITABLE", /nats:\/\/a is not a cluster/],
  [api(10_010, 400, "no\n such thing."), "FLEET_UNSUITABLE", /nats:\/\/a cannot keep this fleet: no such thing\.$/],
  [named("ClosedConnectionError", "x"), "FLEET_UNREACHABLE", /cannot be reached: the connection was closed\. Is/],
  [named("TimeoutError", "too late"), "FLEET_UNREACHABLE", /cannot be reached: too late\. Is/],
  [named("NoResponders", "x"), "FLEET_UNREACHABLE", /its streams have no leader/],
  [api(10_008, 503), "FLEET_UNREACHABLE", /its streams have no leader/],
  [api(10_071, 400, "wrong"), "FLEET_UNREACHABLE", /cannot be reached: wrong\. Is/],
])("the fleet client explains the error %j with %s", (error, code, words) => {
  expect(fleetError(error, "nats://a")).toMatchObject({ code, message: expect.stringMatching(words) });
});

it("the fleet client does not take silence for a server without JetStream", () => {
  const told = fleetError(new JetStreamNotEnabled("jetstream is not enabled", { cause: silence() }), "nats://a");
  expect(told).toMatchObject({ code: "FLEET_UNREACHABLE" });
  expect(told.message).toMatch(/no leader/);
  expect(told.message).not.toMatch(/nats-server -js/);
});
