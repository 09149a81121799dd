// @mcpc-tech/acp-ai-provider: an agent that speaks ACP as a model of the AI SDK. It permits by itself, and loads sessions by their id.
import { attempt, check, load, prompts, whole, workspace } from "./check.mjs";

const { createACPProvider } = await load("@mcpc-tech/acp-ai-provider", "index.mjs");
const { generateText, streamText } = await load("ai", "dist/index.mjs");

const open = (more = {}) =>
  createACPProvider({
    command: "cursor-agent",
    args: ["acp"],
    session: { cwd: workspace, mcpServers: [] },
    authMethodId: "cursor_login",
    persistSession: true,
    ...more,
  });

await attempt("provider", async () => {
  const provider = open();
  const model = provider.languageModel();
  const { fullStream } = streamText({ model, prompt: prompts.work, tools: provider.tools });
  const parts = [];
  for await (const part of fullStream) parts.push(part);
  const text = parts.flatMap((part) => (part.type === "text-delta" ? [part.text] : [])).join("");
  check("streamText: the whole answer", text.trim() === whole.trim(), parts);
  check(
    "streamText: thoughts",
    parts.some(({ type }) => type === "reasoning-delta"),
    parts,
  );
  const results = parts.filter(({ type }) => type === "tool-result");
  check("streamText: both calls, with what came of them", results.length === 2, parts);
  const next = await generateText({ model, prompt: prompts.count, tools: provider.tools });
  check("generateText: the session goes on", next.text.includes("2 prompts"), next.text);
  const id = provider.getSessionId();
  provider.cleanup();
  const again = open({ existingSessionId: id });
  const later = await generateText({ model: again.languageModel(), prompt: prompts.count, tools: again.tools });
  check(
    "existingSessionId: another process loads it, and its history is not a part of the answer",
    later.text.includes("3 prompts") && !later.text.includes("2 prompts"),
    later.text,
  );
  again.cleanup();
});
process.exit(0);
