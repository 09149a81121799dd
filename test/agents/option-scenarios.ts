// Scenarios of single options, and of functions that change stored sessions.
import { readdirSync, writeFileSync } from "node:fs";
import { deleteSession, forkSession, loadSession, openLive, renameSession } from "../../src/sdk/index.ts";
import { calling, differs, done, endsIn, type Scenario } from "./checks.ts";
import { isTurn } from "./trial.ts";

export const optionScenarios: Record<string, Scenario> = {
  async "live session"(trial) {
    const { shell } = trial.cli.peer;
    trial.says([{ text: "The word is heron." }, calling(shell("cat /dev/zero | tail -c 63")), { text: "Still here." }]);
    const { prompt: _prompt, timeoutMs: _timeout, ...options } = trial.options();
    let started = 0;
    const session = await openLive({ ...options, onStart: () => started++ });
    const first = await session.send({ text: "Say a word." }).ending;
    if (first.type === "fail") return `the first turn failed: ${first.message}`;
    const second = session.send({ text: "Wait." });
    while (trial.asked < 2) await new Promise((settle) => setTimeout(settle, 50));
    await new Promise((settle) => setTimeout(settle, 1000));
    session.interrupt("Enough.");
    const cut = await second.ending;
    const third = await session.send({ text: "Which word?" }).ending;
    const words: string[] = [];
    const reading = (async () => {
      for await (const { event } of session.events()) if (event.type === "user") words.push(event.text);
    })();
    await session.close();
    await reading;
    return differs({
      first: [first.type === "done" && first.text, "The word is heron."],
      cut: [cut.type === "fail" && [cut.code, cut.message], ["INTERRUPTED", "Enough."]],
      third: [third.type === "done" && third.text, "Still here."],
      prompts: [words, ["Say a word.", "Wait.", "Which word?"]],
      "what the model is told": [/The word is heron/.test(trial.lastRequest), true],
      processes: [started, trial.cli.tool === "claude" ? 1 : 3],
    });
  },

  async "permissions.deny"(trial) {
    const { peer } = trial.cli;
    const kept = trial.file("kept.txt");
    const secret = trial.file("secret/a.txt");
    writeFileSync(kept, "kept\n");
    trial.says([
      calling(peer.shell(`rm ${kept}`)),
      calling(peer.write(secret, "x\n")),
      calling(peer.shell("ls")),
      done,
    ]);
    const options = { permissions: { deny: ["Shell(rm)", "Write(secret/**)"] } };
    const ran = await trial.run(options).catch((error: Error) => error.message);
    if (typeof ran === "string") return ran;
    return differs({
      outcome: [ran.result.outcome, "success"],
      files: [readdirSync(trial.place.workspace), ["kept.txt"]],
      outcomes: [endsIn(ran.events).map(({ outcome }) => outcome?.kind), ["rejected", "rejected", "success"]],
      denials: [ran.result.denials.length, 2],
    });
  },

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
