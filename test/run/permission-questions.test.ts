// What a person is told with a question about a permission, and what a yes may grant.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Answer, PermissionQuestion, Question } from "../../src/protocol/run.ts";
import { createRunPlace, type RunPlace } from "./run-support.ts";

const places: RunPlace[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});

/** Runs the calls one after the other; each question gets the next answer, a no where there is none left. */
async function asked(
  place: RunPlace,
  calls: { name: string; args: object }[],
  answers: Answer[],
): Promise<PermissionQuestion[]> {
  const questions: Question[] = [];
  const human = {
    ask: async (question: Question) => {
      questions.push(question);
      return answers.shift() ?? ({ type: "no" } as const);
    },
  };
  const script = [...calls.map((call) => ({ calls: [call] })), { text: "Done." }];
  const request = { force: false, trust: true, unlistedCommands: "ask", sandbox: "disabled" } as const;
  const run = await place.open(script, request, { human });
  await run.send({ text: "go" }).ending;
  await run.close();
  return questions.flatMap((question) => (question.type === "permission" ? [question] : []));
}

function create(): RunPlace {
  const place = createRunPlace();
  places.push(place);
  return place;
}

const shell = (command: string) => ({ name: "Shell", args: { command } });

describe("permission questions", () => {
  it("a permission question proposes the narrowest rule, and a grant for the run covers similar calls", async () => {
    const calls = [shell("npm test -- a"), shell("npm test -- b"), shell("npm publish")];
    const narrow = await asked(create(), [...calls, shell("npm test -- a")], [{ type: "yes", grant: "run" }]);
    expect(narrow.map(({ rules }) => rules?.join())).toEqual([
      "Shell(npm test -- a)",
      "Shell(npm test -- b)",
      "Shell(npm publish)",
    ]);
    expect(narrow.map(({ widerRules }) => widerRules?.join())).toEqual([
      "Shell(npm test)",
      "Shell(npm test)",
      undefined,
    ]);
    const wide = await asked(create(), calls, [{ type: "yes", grant: "run", wider: true }]);
    expect(wide.map(({ needs }) => needs[0]?.target)).toEqual(["npm test -- a", "npm publish"]);
  });

  it("permission grants for the project and the user are saved in their files", async () => {
    const place = create();
    await asked(
      place,
      [shell("npm test"), shell("make all")],
      [
        { type: "yes", grant: "project" },
        { type: "yes", grant: "user" },
      ],
    );
    const saved = (file: string) => JSON.parse(readFileSync(file, "utf8")).permissions.allow;
    expect(saved(join(place.path, ".cursor/cli.json"))).toEqual(["Shell(npm test)"]);
    expect(saved(join(place.path, "../config/cli-config.json"))).toEqual(["Shell(make all)"]);
    expect(await asked(place, [shell("npm test -- again"), shell("make all")], [])).toEqual([]);
  });

  it("answering a permission question with a plain yes allows only that call", async () => {
    const place = create();
    expect(await asked(place, [shell("npm test"), shell("npm test")], [{ type: "yes" }])).toHaveLength(2);
    expect(existsSync(join(place.path, ".cursor"))).toBe(false);
  });

  it("the question about an edit shows the change without making it", async () => {
    const place = create();
    mkdirSync(join(place.path, "src"));
    writeFileSync(join(place.path, "src/a.txt"), "one\ntwo\nthree\n");
    mkdirSync(join(place.path, ".cursor"));
    writeFileSync(join(place.path, ".cursor/cli.json"), '{"permissions":{"allow":["Write(docs/**)"]}}');
    const edits = [{ oldText: "two", newText: "2" }];
    const [question] = await asked(place, [{ name: "Edit", args: { path: "src/a.txt", edits } }], []);
    expect(question!.diff).toContain("-two\n+2\n");
    expect(question!.rules).toEqual(["Write(src/a.txt)"]);
    expect(readFileSync(join(place.path, "src/a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  });
});
