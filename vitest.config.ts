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
  "package.test",
  "policy/tables.test",
  "cli/sessions.test",
  "cli/print.test",
  "cli/adapter-doctor.test",
  "eval/eval.test",
  "stress/stress.test",
  "studio/many-runs.test",
  "doors/matrix.test",
  "serve/ends-in-time.test",
  "serve/worker-loss.test",
  "agent/diagnostics.test",
  "cli/watchdog.test",
  "agent/race.test",
  "cases-cli.test",
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
    // Half of the time is spent waiting, for processes, servers and time limits: three keep two cores busy.
    maxWorkers: 3,
    // Nothing is mocked, so that files may share what one of them has loaded: loading took a quarter of the time.
    isolate: false,
    sequence: { sequencer: LongestFirst },
  },
});
