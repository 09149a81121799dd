// What the errors of the client mean: none is left out, and none that passes with an election ends a run.
import { jserrors } from "@nats-io/jetstream/internal";
import { errors, NoRespondersError, PermissionViolationError, RequestError } from "@nats-io/transport-node";
import { expect, it } from "vitest";
import { fleetError, isPassing, meaningOf } from "../../src/serve/engines/nats/errors.ts";

const { JetStreamApiError, JetStreamNotEnabled } = jserrors;
const api = (code: number, status: number, description = "said by the server") =>
  new JetStreamApiError({ err_code: code, code: status, description });
const silence = () => new RequestError("no responders", { cause: new NoRespondersError("x") });

it("every class of error has a meaning", () => {
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
] as const)("%s", (_name, error, meaning) => {
  expect(meaningOf(error)).toBe(meaning);
  expect(isPassing(error)).toBe(meaning === "passing");
});

it("silence is not taken for a server without JetStream", () => {
  const told = fleetError(new JetStreamNotEnabled("jetstream is not enabled", { cause: silence() }), "nats://a");
  expect(told).toMatchObject({ code: "FLEET_UNREACHABLE" });
  expect(told.message).toMatch(/no leader/);
  expect(told.message).not.toMatch(/nats-server -js/);
});
