// The offline model does what was said, or nothing: 300 wordings that were written before it was measured with them.
import { afterAll, expect, test } from "vitest";
import { offlineProvider } from "../../src/model/offline/index.ts";
import { converse, toolsIn } from "./offline-driver.ts";
import { type Reaction, removeWorkspace, score, wordings } from "./offline-wordings/score.ts";

afterAll(removeWorkspace);

async function react(prompt: string, workspace: string): Promise<Reaction> {
  const { text, error, calls } = await converse(offlineProvider, prompt, toolsIn(workspace, { shell: "real" }));
  const commands = calls.filter((call) => call.name === "Shell").map((call) => String(call.args.command));
  return { text: error?.message ?? text, commands, refused: error !== undefined };
}

/** `WORDINGS=odd` keeps to the half that the model may be worked on with, and shows what is not done. */
test("at least 70 % of what can be done is done, and nothing that was not asked for", async () => {
  const onlyOdd = process.env["WORDINGS"] === "odd";
  const all = wordings();
  expect(all).toHaveLength(300);
  const scores = [];
  for (const wording of all) if (!onlyOdd || wording.number % 2 === 1) scores.push(await score(wording, react));
  if (onlyOdd) console.log(scores.filter(({ verdict }) => verdict !== "done"));
  expect(scores.filter(({ verdict }) => verdict === "wrong")).toEqual([]);
  const asked = scores.filter(({ wording }) => wording.expected[0] !== "nothing");
  expect(asked.filter(({ verdict }) => verdict === "done").length).toBeGreaterThanOrEqual(0.7 * asked.length);
}, 120_000);
