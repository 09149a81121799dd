// Keeps an agent in a test off every network: a namespace of its own, whose only way out is a relay to the model server.
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { relayCommand, relayPort } from "../../agent/sandbox/relay.ts";
import { programSucceeds } from "../../process/run-program.ts";
import { temporaryFolder } from "./temporary.ts";

const namespace = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--"];
let isPossible: boolean | undefined;

/** Whether this machine has bubblewrap, and lets it make namespaces. Asked once. */
export function canLeaveNetwork(): boolean {
  isPossible ??= process.platform === "linux" && programSucceeds([...namespace, "true"]);
  return isPossible;
}

/** The address of the model server in the namespace, and the command that runs another one there. */
export type OffNetwork = AsyncDisposable & { url: string; command(words: readonly string[]): string[] };

/** Cuts the agent off the network, except from the model server at `url` on this machine. */
export async function offNetwork(url: string): Promise<OffNetwork> {
  const { hostname, port } = new URL(url);
  const folder = temporaryFolder("courser-relay-");
  const socket = join(folder.path, "s");
  const relay = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((ready, fail) => relay.once("error", fail).listen(socket, ready));
  return {
    url: `http://127.0.0.1:${relayPort}`,
    command: (words) => [...namespace, ...relayCommand(process.execPath, socket, words)],
    async [Symbol.asyncDispose]() {
      await new Promise((closed) => relay.close(closed));
      folder.remove();
    },
  };
}
