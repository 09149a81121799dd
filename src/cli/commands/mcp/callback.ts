// Receives the browser's redirect after a login: listens on a local port for one request, with a time limit.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { UserError } from "../../../protocol/error-codes.ts";

export interface Callback {
  /** The URL that the browser is redirected to after the login. */
  url: string;
  /** Resolves with the first request that carries `state`. */
  answer(state: string): Promise<URLSearchParams>;
  close(): void;
}

export const usualPort = 41789;
const longestMs = 5 * 60_000;

/** Rejects at once if the port is taken, because a login that cannot return must not start. */
export async function listenForCallback(port: number): Promise<Callback> {
  let wanted: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let found: (params: URLSearchParams) => void = () => {};
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const isOurs = url.pathname === "/callback" && wanted !== undefined && url.searchParams.get("state") === wanted;
    response.writeHead(isOurs ? 200 : 404, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      connection: "close",
    });
    response.end(isOurs ? "You can close this page and go back to the terminal.\n" : "Nothing is here.\n");
    if (isOurs) found(url.searchParams);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(portProblem(port, error)));
    server.listen(port, "127.0.0.1", resolve);
  });
  const listening = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${listening}/callback`,
    answer(state) {
      wanted = state;
      return new Promise((resolve, reject) => {
        const late = new UserError("NOT_AUTHENTICATED", "The login timed out after 5 minutes. Try again.");
        timer = setTimeout(() => reject(late), longestMs);
        found = (params) => {
          clearTimeout(timer);
          resolve(params);
        };
      });
    },
    close() {
      clearTimeout(timer);
      server.close();
      server.closeAllConnections();
    },
  };
}

function portProblem(port: number, error: NodeJS.ErrnoException): UserError {
  const why = error.code === "EADDRINUSE" ? "is in use by another program" : `cannot be used (${error.code})`;
  return new UserError("PORT_TAKEN", `Port ${port}, for the browser's callback, ${why}. Use another: --port <port>`);
}
