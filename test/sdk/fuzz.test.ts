import { expect, test } from "vitest";
import { fuzz } from "./fuzz.ts";

test("decoding 20,000 random stream lines causes no crash, wrong event or lost line", () => {
  const { frames, events, faults } = fuzz({ rounds: 20_000, seed: 20_260_101 });
  expect(frames).toBeGreaterThanOrEqual(20_000);
  expect(events).toBeGreaterThan(frames / 2);
  // It must have met what it is there for.
  for (const code of ["FRAME_MALFORMED", "FRAME_ENCODING", "FRAME_TOO_LARGE", "FRAME_SCHEMA", "FRAME_SESSION"])
    expect(faults[code], code).toBeGreaterThan(0);
}, 60_000);
