// Scenarios of single options, and of functions that change stored sessions.
import { deleteSession, forkSession, loadSession, renameSession } from "../../src/sdk/index.ts";
import { calling, differs, done, type Scenario } from "./checks.ts";
import { isTurn } from "./trial.ts";

export const optionScenarios: Record<string, Scenario> = {
  async effort(trial) {
    trial.says([{ text: "Thought." }]);
    const { result, requests } = await trial.run({
      effort: "high",
      model: trial.cli.peer.effortModel ?? trial.cli.peer.model,
    });
    return differs({
      losses: [result.losses.filter(({ option }) => option === "effort"), []],
      request: [/"(reasoning_?effort|effort|thinking_?level)":"high"/i.test(requests[0]!.body.toString()), true],
    });
  },

  async agents(trial) {
    const { subagent, shell } = trial.cli.peer;
    if (!subagent) return "it takes no subagents for one run";
    const prompt = "You read what others wrote, and you are called Marla.";
    const heard: string[] = [];
    // Some run a subagent beside the agent, which then has to go on long enough.
    const answers = [calling(subagent("marla", "Look at it.")), calling(shell("sleep 2"))];
    trial.says((request) => {
      if (!isTurn(request)) return { text: "ok" };
      if (!request.body.includes(prompt)) return answers.shift() ?? done;
      heard.push(request.body.toString());
      return { text: "Marla was here." };
    });
    const { result } = await trial.run({ agents: { marla: { description: "Reads what others wrote", prompt } } });
    return differs({
      text: [result.text, /Done\./],
      losses: [result.losses.filter(({ option }) => option === "agents"), []],
      heard: [heard.length > 0 && heard.every((body) => body.includes("Look at it.")), true],
    });
  },

  async "stored sessions"(trial) {
    trial.says([{ text: "One." }, { text: "Two." }]);
    const { result } = await trial.run({ prompt: "Say one." });
    const env = { ...process.env, ...trial.env } as NodeJS.ProcessEnv;
    const named = { tool: trial.cli.tool, env };
    await renameSession({ ...named, sessionId: result.sessionId!, title: "A number" });
    const copy = await forkSession({ ...named, sessionId: result.sessionId! });
    const { result: second, requests } = await trial.run({ prompt: "And now?", resume: copy });
    const original = await loadSession({ ...named, sessionId: result.sessionId! });
    await deleteSession({ ...named, sessionId: result.sessionId! });
    const { result: gone } = await trial.run({ prompt: "Still there?", resume: result.sessionId! });
    return differs({
      title: [original.title, "A number"],
      messages: [original.messages.length, 2],
      copy: [second.outcome === "success" && second.sessionId, copy],
      history: [requests[0]?.body.includes("Say one."), true],
      gone: [gone.outcome === "error" && gone.error.code, "SESSION_NOT_FOUND"],
    });
  },
};
