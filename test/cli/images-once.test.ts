// Pictures of the command line go with the first prompt, and with no other.
import { afterAll, describe, expect, it } from "vitest";
import { createWorkspace } from "../support/run-cli.ts";
import { converse, hasScript } from "../support/terminal.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const workspace = createWorkspace();
afterAll(() => workspace.remove());
workspace.file("a.png", png);

/** For each prompt of the newest chat: how many pictures it has. */
async function pictures(): Promise<number[]> {
  const listed = await workspace.run(["ls", "--format", "json"]);
  const [chat] = JSON.parse(listed.stdout);
  const { stdout } = await workspace.run(["sessions", "export", chat.id, "--format", "json"]);
  const messages: { role: string; content: { type: string }[] }[] = JSON.parse(stdout).messages;
  const prompts = messages.filter(({ role }) => role === "user");
  return prompts.map(({ content }) => content.filter(({ type }) => type === "image").length);
}

describe("--image", () => {
  it("--image is sent only with the first prompt when prompts arrive as lines on stdin", async () => {
    const line = (text: string) =>
      `${JSON.stringify({ type: "user", message: { role: "user", content: [{ type: "text", text }] } })}\n`;
    const args = ["--input-format", "stream-json", "--image", "a.png", "--"];
    const run = await workspace.play([{ text: "one" }, { text: "two" }, { text: "three" }], args, {
      stdin: line("prompt-1") + line("prompt-2") + line("prompt-3"),
    });
    expect(run.exit, run.stderr).toBe(0);
    expect(await pictures()).toEqual([1, 0, 0]);
  });

  it.skipIf(!hasScript)(
    `--image is sent once in a plain conversation${hasScript ? "" : " (skipped: there is no `script` here)"}`,
    async () => {
      workspace.file("script.json", JSON.stringify([{ text: "one." }, { text: "two." }]));
      const { screen, exit } = await converse(
        "--trust --image a.png --model script:script.json",
        [
          [/\n> /, "prompt-1\n"],
          [/one\.[\s\S]*> /, "prompt-2\n"],
          [/two\.[\s\S]*> /, "quit\n"],
        ],
        workspace,
      );
      expect(exit, screen).toBe(0);
      expect(await pictures()).toEqual([1, 0]);
    },
  );
});
