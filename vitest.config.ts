import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: more workers than cores make timing-sensitive process tests lie.
    maxWorkers: 2,
  },
});
