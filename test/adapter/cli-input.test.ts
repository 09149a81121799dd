// How a prompt goes into a CLI: as an argument where it fits, else through stdin.
import { describe, expect, it } from "vitest";
import { cliInput } from "../../src/adapter/cli-input.ts";
import type { Turn } from "../../src/protocol/turn-contract.ts";

const model = {
  command: "some-agent",
  args: ["-a"],
  promptAsArg: true,
  headlessFlags: ["--print"],
  closeStdinAfterMs: 5,
};
const turn = (content: string) => ({ messages: [{ role: "user", content }] }) as unknown as Turn;
const via = (prompt: string, platform: NodeJS.Platform = "linux", command = "some-agent") =>
  cliInput({ ...model, command }, turn(prompt), platform).promptVia;

describe("the adapter's prompt argument", () => {
  it("the adapter passes the prompt to a CLI as the last argument, after the flags", () => {
    expect(cliInput(model, turn("hi"), "linux")).toEqual({
      command: "some-agent",
      args: ["-a", "--print"],
      prompt: "hi",
      promptVia: "argument",
    });
  });

  it.each<[string, string, NodeJS.Platform, string]>([
    ["as long as it may be", "x".repeat(100_000), "linux", "argument"],
    ["a byte longer", "x".repeat(100_001), "linux", "stdin"],
    ["of fewer characters than bytes", "ä".repeat(50_001), "linux", "stdin"],
    ["with a NUL", "a\0b", "linux", "stdin"],
    ["with a NUL, on macOS", "\0", "darwin", "stdin"],
    ["as long as Windows takes it", "x".repeat(4000), "win32", "argument"],
    ["longer than Windows takes it", "x".repeat(4001), "win32", "stdin"],
    ["with a NUL, on Windows", "a\0", "win32", "stdin"],
  ])("the adapter passes the prompt as an argument or through stdin: %s", (_what, prompt, platform, expected) => {
    expect(via(prompt, platform)).toBe(expected);
  });

  it("the adapter pipes a prompt to a Windows batch file if the command line would be too long or misread", () => {
    expect(via("hello", "win32", "agent.cmd")).toBe("argument");
    expect(via('"'.repeat(3900), "win32", "agent.cmd")).toBe("stdin");
  });

  it("the adapter sends the whole turn to a CLI that accepts turn JSON, and refuses a turn without a prompt", () => {
    const whole = turn("hi");
    expect(cliInput({ ...model, promptAsArg: false }, whole, "linux")).toEqual({
      command: "some-agent",
      args: ["-a"],
      turn: whole,
      closeTurnAfterMs: 5,
    });
    const empty = { messages: [] } as unknown as Turn;
    expect(() => cliInput(model, empty, "linux")).toThrow(
      "The turn has no user message, and some-agent accepts nothing else.",
    );
  });
});
