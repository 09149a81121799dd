// Nomadcxx/opencode-cursor: a provider for another agent; here its client and its translation to chat completion chunks.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, bun, check, conclusion, folder, prompts, repository, whole, workspace } from "./check.mjs";

const script = join(folder, "drive-client.ts");
writeFileSync(
  script,
  `import { SimpleCursorClient } from ${JSON.stringify(join(repository, "src/client/simple.ts"))};
import { StreamToSseConverter } from ${JSON.stringify(join(repository, "src/streaming/openai-sse.ts"))};
const client = new SimpleCursorClient();
const options = { cwd: ${JSON.stringify(workspace)} };
const turn = async (prompt: string, resumeId?: string) => {
  const events: any[] = [], chunks: string[] = [];
  const converter = new StreamToSseConverter("auto");
  let error: string | undefined;
  try {
    for await (const event of client.executePromptStream(prompt, { ...options, resumeId })) {
      events.push(event);
      chunks.push(...converter.handleEvent(event));
    }
  } catch (failure: any) { error = failure.message; }
  return { events, chunks, error };
};
const untrusted = await turn("hi");
Bun.spawnSync(["cursor-agent", "-p", "--trust", "hi"], options);
const work = await turn(${JSON.stringify(prompts.work)});
const count = await turn(${JSON.stringify(prompts.count)}, work.events.at(0)?.session_id);
const failed = await turn(${JSON.stringify(prompts.fail)});
const whole = await client.executePrompt(${JSON.stringify(prompts.work)}, options);
console.log(JSON.stringify({ untrusted, work, count, failed, whole }));
process.exit(0);
`,
);
await attempt("client", async () => {
  const { stdout, stderr } = spawnSync(bun, [script], { cwd: workspace, encoding: "utf8", timeout: 120_000 });
  const line = stdout.split("\n").find((each) => each.startsWith('{"untrusted"'));
  if (!line) throw new Error(stdout + stderr);
  const seen = JSON.parse(line);
  check("an untrusted folder is told as such", /Workspace Trust Required/.test(seen.untrusted.error), seen.untrusted);
  const types = seen.work.events.map(({ type }) => type);
  check("every line is an event, from system to result", types[0] === "system" && types.at(-1) === "result", types);
  const text = seen.work.chunks
    .flatMap((chunk) => (chunk.startsWith("data: {") ? [JSON.parse(chunk.slice(6))] : []))
    .map((chunk) => chunk.choices[0].delta.content ?? "")
    .join("");
  check("the chunks say the answer once", text === whole, seen.work.chunks);
  check("a chat is resumed", JSON.stringify(seen.count.events.at(-1)).includes("2 prompts"), seen.count);
  check("a failure is an exception with the reason", /no such thing/.test(seen.failed.error), seen.failed);
  check("the whole answer ends with the last words", seen.whole.content.endsWith(conclusion), seen.whole);
});
process.exit(0);
