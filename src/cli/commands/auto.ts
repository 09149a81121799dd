// `auto`: a model behind the turn contract. Reads one turn of JSON from stdin, writes contract events to stdout, then exits.
import { exitCodeOf, type UserError } from "../../protocol/error-codes.ts";
import type { ProtocolLine, TurnEvent } from "../../protocol/turn-contract.ts";
import { supportedVersions } from "../../protocol/turn-contract.ts";
import { setUp } from "../../run/setup.ts";
import { errorLine, explainFailure } from "../failure.ts";
import type { Invocation } from "../main.ts";
import { runHost, runRequest } from "../run-request.ts";
import { handleShutdown } from "../shutdown.ts";
import { openStdout, withoutSecrets, writeStderr } from "../stdout.ts";
import { TurnInput } from "./turn-input.ts";

/** Runs one turn of the `auto` protocol. Its output always ends with exactly one `done` or `error` line. */
export async function auto(invocation: Invocation): Promise<number> {
  const abort = new AbortController();
  const watch = handleShutdown(abort, invocation);
  const lines = new ContractLines(abort);
  watch.cut = (error) => {
    lines.fail(error);
    process.exit(lines.exitCode);
  };
  const input = new TurnInput(abort);
  try {
    lines.write({ type: "protocol", data: { version: supportedVersions[0]! } });
    const turn = await input.turn(invocation.name);
    const setup = await setUp(runRequest(invocation, "print"), runHost(invocation), { gate: false });
    const { answerTurn } = await import("./auto-turn.ts");
    for await (const event of answerTurn(setup, turn, abort.signal)) {
      lines.write(event);
      await lines.ready();
    }
  } catch (error) {
    lines.fail(abort.signal.aborted ? abort.signal.reason : error);
  } finally {
    watch.stop();
    input.close();
  }
  await lines.flush();
  return lines.exitCode;
}

class ContractLines {
  exitCode = 0;
  #hasEnded = false;
  readonly #stdout;

  constructor(abort: AbortController) {
    this.#stdout = openStdout(
      () => {
        this.exitCode = 141; // exit as if SIGPIPE had ended the program, which is what readers like `head` expect
        abort.abort();
      },
      (fault) => {
        this.exitCode = exitCodeOf(fault.code);
        abort.abort();
      },
    );
  }

  write(event: TurnEvent | ProtocolLine): void {
    if (this.#hasEnded) return;
    this.#hasEnded = event.type === "done" || event.type === "error";
    this.#stdout.write(`${JSON.stringify(event)}\n`);
  }

  fail(error: unknown): void {
    if (this.#hasEnded || this.exitCode !== 0) return;
    const { code, message } = explainAnyFailure(error);
    this.exitCode = exitCodeOf(code);
    this.write({ type: "error", data: { code, message } });
    writeStderr(errorLine(message, code));
  }

  ready(): Promise<void> | undefined {
    return this.#stdout.ready();
  }

  async flush(): Promise<void> {
    await this.#stdout.flush();
  }
}

/** Describes any error for the output. Errors of the model keep their own code. */
function explainAnyFailure(error: unknown): ReturnType<typeof explainFailure> {
  const { name, code, message } = error as UserError;
  return name === "ModelError" ? { code, message: withoutSecrets(message) } : explainFailure(error);
}
