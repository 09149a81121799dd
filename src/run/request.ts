// Checks a RunRequest that may come from anywhere: a queue, another process, a test. What is wrong is named by its field.
import { fields } from "../json/checks.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { RunRequest } from "../protocol/run.ts";
import { requestChecks } from "../protocol/run-request.ts";

const check = fields(requestChecks, ["workspace"]);

export function checkRequest(value: unknown): RunRequest {
  const fault = check(value);
  if (fault !== undefined) throw new UserError("USAGE", `The run request ${fault}.`);
  return value as RunRequest;
}
