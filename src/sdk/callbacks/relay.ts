// The program that an agent CLI starts to reach the process that drives it: `node relay.cjs hook|ask|mcp SOCKET`. It copies
// stdin to the socket and the answer to stdout. Without an answer, a hook refuses.
import { connect } from "node:net";

const [kind = "", address = ""] = process.argv.slice(2);
let isAnswered = false;

const socket = connect(address, () => {
  socket.write(`${JSON.stringify({ kind })}\n`);
  process.stdin.pipe(socket);
});
socket.on("data", (chunk: Buffer) => {
  isAnswered = true;
  process.stdout.write(chunk);
});
socket.on("error", (error) => fail(`The program that runs this agent cannot be reached: ${error.message}`));
socket.on("close", () => {
  if (kind === "hook" && !isAnswered) fail("The program that runs this agent gave no answer.");
  // Close stdin: it may stay open forever, and nothing reads it any more.
  process.stdin.destroy();
});

/** Refuses the call: every CLI that has hooks treats exit code 2 as a refusal. */
function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 2;
}
