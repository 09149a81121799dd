// What comes from outside without an end: named, and cheap.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createGzip } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type CliOptions, createWorkspace } from "../support/run-cli.ts";

const piece = Buffer.alloc(2 ** 20, "x");
const pieces = 120;
/** An idle run has some 60; today's answers could fill gigabytes. */
const maxMb = 260;

/** As fast as it is taken, until nobody takes it. */
async function pump(stream: NodeJS.WritableStream, bytes: Uint8Array = piece): Promise<void> {
  let isOpen = true;
  let wake = () => {};
  for (const name of ["close", "error", "drain"]) {
    stream.on(name, () => {
      if (name !== "drain") isOpen = false;
      wake();
    });
  }
  for (let count = 0; count < pieces && isOpen; count++) {
    if (stream.write(bytes)) continue;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  if (isOpen) stream.end();
}

async function play(args: readonly string[], options: CliOptions, files: Record<string, string> = {}) {
  const workspace = createWorkspace(files);
  let peakMb = 0;
  try {
    const onStart: CliOptions["onStart"] = (child) => {
      options.onStart?.(child);
      const look = setInterval(() => {
        try {
          const status = readFileSync(`/proc/${child.pid}/status`, "latin1");
          peakMb = Math.max(peakMb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
        } catch {}
      }, 10);
      child.on("exit", () => clearInterval(look));
    };
    const fixed = ["-p", "--force", "--output-format", "json"];
    const run = await workspace.run([...fixed, ...args], { ...options, onStart });
    return { ...run, code: run.lines()[0]?.["error_code"], peakMb };
  } finally {
    workspace.remove();
  }
}

describe.concurrent("bounds of a model's answer", () => {
  const events = { "content-type": "text/event-stream" };
  const delta = (part: object) => `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: part }] })}\n\n`;
  const long = "y".repeat(64 * 1024);
  const call = (args: string, more: object = {}) => ({
    tool_calls: [{ index: 0, function: { arguments: args }, ...more }],
  });
  const unpacked = (response: ServerResponse, status: number, opening: string) => {
    response.writeHead(status, { ...events, "content-encoding": "gzip" });
    const packed = createGzip();
    packed.pipe(response);
    response.on("close", () => packed.destroy());
    packed.write(opening);
    void pump(packed);
  };
  const answers: Record<string, [code: string, answer: (response: ServerResponse) => void]> = {
    "a line without an end": [
      "MODEL_TOO_LONG",
      (response) => {
        response.writeHead(200, events).write('data: {"a":"');
        void pump(response);
      },
    ],
    "a small body that unpacks to a large one": ["MODEL_TOO_LONG", (response) => unpacked(response, 200, "data: ")],
    "an error that unpacks to a large one": ["MODEL_BAD_REQUEST", (response) => unpacked(response, 400, '{"error":"')],
    "text without an end": [
      "MODEL_TOO_LONG",
      (response) => void pump(response.writeHead(200, events), Buffer.from(delta({ content: long }).repeat(16))),
    ],
    "arguments without an end": [
      "MODEL_TOO_LONG",
      (response) => {
        response.writeHead(200, events).write(delta(call('{"path":"', { id: "a", function: { name: "Read" } })));
        void pump(response, Buffer.from(delta(call(long)).repeat(16)));
      },
    ],
    "calls without an end": [
      "MODEL_TOO_LONG",
      (response) => {
        let count = 0;
        const one = () => ({ index: count, id: `c${count++}`, function: { name: "LS", arguments: "{}" } });
        const many = Array.from({ length: 1500 }, () => delta({ tool_calls: [one()] }));
        response.writeHead(200, events).write(many.join(""));
      },
    ],
  };
  test.each(Object.keys(answers))(
    "a run cuts off a model's answer that is too large and reports an error code: %s",
    { timeout: 60_000 },
    async (name) => {
      const [expected, answer] = answers[name]!;
      const server = createServer((_request, response) => {
        response.on("error", () => {});
        answer(response);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
        const { code, exit, peakMb, stderr } = await play(["--endpoint", endpoint, "--model", "m", "go"], {});
        expect({ code, exit }).toEqual({ code: expected, exit: 1 });
        expect(stderr).toContain(`[${expected}]`);
        expect(peakMb).toBeLessThan(maxMb);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    },
  );
});

describe.concurrent("bounds of input", () => {
  test("print mode reads piped stdin only up to a limit", { timeout: 60_000 }, async () => {
    const onStart: CliOptions["onStart"] = (child) => void pump(child.stdin!);
    const { code, exit, peakMb } = await play(["look", "-"], { stdin: "open", onStart });
    expect({ code, exit }).toEqual({ code: "PROMPT_TOO_LARGE", exit: 1 });
    expect(peakMb).toBeLessThan(150);
  });

  test("a JSON schema of 3 MB is refused, and an ignore file of 3 MB hides every file", async () => {
    using workspace = createWorkspace({ ".cursorignore": "x".repeat(3 * 2 ** 20) });
    const schema = join(workspace.home, "schema.json");
    writeFileSync(schema, JSON.stringify({ description: "x".repeat(3 * 2 ** 20) }));
    const refused = await workspace.play([{ text: "ok" }], ["--json-schema", schema]);
    expect(refused.stderr).toContain("more than 1 MiB");
    const read = [{ calls: [{ name: "Read", args: { path: "a.txt" } }] }, { text: "ok" }];
    workspace.file("a.txt", "a");
    // What it was made to hide is not known.
    expect((await workspace.play(read)).stdout).toContain(".cursorignore hides");
  });
});
