import { createHash } from "node:crypto";
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * They take longest, and start first: otherwise one worker ends long after the other. A fresh clone knows no durations. What
 * `cases` measures is not to be disturbed by the many programs of `cases-cli`, which comes when the other is done.
 */
const longest = [
  "serve/nats-cluster.test",
  "cases.test",
  "docs.test",
  "policy/fuzz.test",
  "agent/browser.test",
  "install.test",
  "eval/eval.test",
  "stress/stress.test",
  "doors/matrix.test",
  "cli/watchdog.test",
  "studio/axe.test",
  "studio/many-runs.test",
  "serve/ends-in-time.test",
  "cli/print.test",
  "serve/worker-loss.test",
  "agent/diagnostics.test",
  "serve/fleet-limits.test",
  "cli/sessions.test",
  "cases-cli.test",
  "studio/studio.test",
  "terminal/app.test",
  "agent/snapshots.test",
  "testing/conformance.test",
  "terminal/menus.test",
  "model/strict.test",
  "cli/adapter-doctor.test",
  "agent/process.test",
  "agent/sandbox-closed.test",
  "worktrees/worktrees.test",
  "cli/mistakes.test",
  "cli/session/session.test",
  "agent/what-the-model-sees.test",
  "sdk/child.test",
  "sdk/live.test",
  "testing/replay.test",
  "adapter/faults.test",
  "agent/race.test",
  "policy/tables.test",
  "package.test",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { sequence, root } = this.ctx.config;
    if (sequence.shuffle) return shuffled(files, (file) => `${sequence.seed} ${relative(root, file.moduleId)}`);
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const isNamed = (name: string) => moduleId.endsWith(`/test/${name}.ts`);
      const at = longest.findIndex(isNamed);
      return at >= 0 ? at : longest.length;
    };
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}

/** The same order for the same seed, wherever the checkout is. */
function shuffled<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const keyed = items.map((item) => ({ item, key: createHash("sha256").update(keyOf(item)).digest("hex") }));
  return keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ item }) => item);
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Style sheets are read, for the exports that carry one.
    css: true,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // On a busy machine a second, which is the default, is short.
    expect: { poll: { timeout: 20_000 } },
    // Half of the time is spent waiting, for processes, servers and time limits: four keep two cores busy.
    maxWorkers: 4,
    // Nothing is mocked, so that files may share what one of them has loaded: loading took a quarter of the time.
    isolate: false,
    sequence: { sequencer: LongestFirst },
  },
});
