// A session of as many events as are wanted: turns with text, reads, edits and commands, as real ones have them.
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { Message } from "../../src/protocol/message.ts";
import { createChat } from "../../src/store/chats/open-chat.ts";
import { randomUuid } from "../../src/store/chats/random-uuid.ts";

/** Its id. Each turn has about 100 events. */
export function writeLongSession(where: { configDir: string; workspace: string }, events: number): string {
  const id = randomUuid();
  const chat = createChat(where, { id, mode: "default", model: "Scripted" });
  let written = 0;
  const record = (event: AgentEvent) => {
    chat.record(event);
    written++;
  };
  for (let turn = 1; written < events; turn++) {
    const prompt = `Step ${turn}: go through the modules and settle what is left.`;
    record({ type: "init", sessionId: id, cwd: where.workspace, permissionMode: "default", apiKeySource: "none" });
    record({ type: "user", text: prompt });
    const messages: Message[] = [{ role: "user", parts: [{ type: "text", text: prompt }] }];
    for (let step = 0; step < 32 && written < events - 2; step++) {
      const text = `Module ${turn}.${step} is read next, since it is **imported** by \`index.ts\`.`;
      record({ type: "text_end", text });
      const call = step % 8 === 7 ? shell(turn, step) : read(where.workspace, turn, step);
      const callId = `call-${turn}-${step}`;
      record({ type: "tool_start", callId, tool: call.tool, args: call.args });
      record({ type: "tool_end", callId, ...call });
      messages.push(
        {
          role: "assistant",
          parts: [
            { type: "text", text },
            { type: "tool_call", id: callId, name: call.name, args: call.args },
          ],
        },
        { role: "user", parts: [{ type: "tool_result", id: callId, text: "done", isError: false }] },
      );
    }
    messages.push({ role: "assistant", parts: [{ type: "text", text: `Turn ${turn} is done.` }] });
    chat.append(...messages);
    const usage = { inputTokens: 4000 + turn * 300, outputTokens: 900, cacheReadTokens: 3000, cacheWriteTokens: 0 };
    record({ type: "done", text: `Turn ${turn} is done.`, durationMs: 9000 + turn * 100, apiDurationMs: 6000, usage });
  }
  chat.close();
  return id;
}

function read(workspace: string, turn: number, step: number) {
  const path = `${workspace}/src/module-${turn}-${step}.ts`;
  const content = `export const name${step} = ${turn};\n`.repeat(12);
  const success = { content, isEmpty: false, exceededLimit: false, totalLines: 13, fileSize: content.length, path };
  return { name: "Read", tool: "read", args: { path }, outcome: { kind: "success", value: success } };
}

function shell(turn: number, step: number) {
  const command = `npm test -- module-${turn}-${step}`;
  const stdout = "\u001b[32m✓\u001b[39m every case\n".repeat(6);
  const run = { command, workingDirectory: "", exitCode: 0, signal: "", stdout, stderr: "", executionTime: 812 };
  return {
    name: "Shell",
    tool: "shell",
    args: { command, workingDirectory: "" },
    outcome: { kind: "success", value: run },
  };
}
