// The inner end of the proxy: a small program inside the sandbox that listens where programs expect a proxy, and starts the command. In
// a network namespace of its own every port is free.

export const relayPort = 3128;

/** A Node program that relays connections to a socket (its first argument) and runs a command (the others). */
const program = `
const net = require("node:net"), os = require("node:os"), { spawn } = require("node:child_process");
const [path, name, ...args] = process.argv.slice(1);
const server = net.createServer({ allowHalfOpen: true }, (near) => {
  const far = net.connect({ path, allowHalfOpen: true });
  for (const [one, other] of [[near, far], [far, near]]) {
    one.pipe(other);
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
});
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
server.listen(${relayPort}, "127.0.0.1", () => {
  const child = spawn(name, args, { stdio: "inherit" });
  child.on("error", (error) => {
    console.error(error.message);
    process.exit(127);
  });
  child.on("exit", (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
});
`;

export function relayCommand(node: string, socket: string, command: readonly string[]): string[] {
  return [node, "-e", program, "--", socket, ...command];
}

/** Returns the environment variables that tell programs to use a proxy. */
export function proxyVariables(port: number): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const none = "localhost,127.0.0.1,::1";
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: none,
    no_proxy: none,
    NODE_USE_ENV_PROXY: "1",
  };
}
