// What is around the terminal, tried with the built program in a pty: an editor, a clipboard, the background, titles and
// notifications, prompts of servers, few colours or none. Small programs stand in for those of the system.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Attention } from "../../src/terminal/attention.ts";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";
import { openCli, type Pty } from "./pty.ts";

const opened: { pty: Pty; workspace: Workspace }[] = [];
afterEach(async () => {
  for (const { pty, workspace } of opened.splice(0)) {
    pty.kill();
    await pty.ended;
    workspace.remove();
  }
});

type World = {
  args?: readonly string[];
  files?: Record<string, string>;
  env?: Record<string, string>;
  /** Shell scripts that are found in PATH. */
  programs?: Record<string, string>;
};

async function start(
  script: readonly unknown[],
  { args = ["--force", "--trust"], files = {}, env = {}, programs = {} }: World = {},
): Promise<Pty> {
  const workspace = createWorkspace(files);
  const bin = join(workspace.path, "../bin");
  mkdirSync(bin);
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const file = join(workspace.path, "../script.json");
  writeFileSync(file, JSON.stringify(script));
  const pty = openCli(workspace, ["--model", `script:${file}`, ...args], {
    columns: 90,
    rows: 26,
    env: { PATH: `${bin}:${process.env["PATH"]}`, ...env },
  });
  opened.push({ pty, workspace });
  await pty.waitFor("Ask, or type /");
  await pty.waitFor(/^ courser {2}Script · /m);
  return pty;
}

const shell = (command: string) => ({ calls: [{ name: "Shell", args: { command } }] });
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("other programs and the terminal", () => {
  it("Ctrl+B twice in the terminal sends the running command to the background, and the turn continues", async () => {
    const pty = await start([shell("echo begun; sleep 20"), { expect: ["background"], text: "It goes on." }]);
    pty.type("go\r");
    await pty.waitFor("│ begun");
    pty.type("\x02");
    await pty.waitFor("Ctrl+B again");
    pty.type("\x02");
    await pty.waitFor("It goes on.");
  });

  it("Ctrl+G in the terminal opens $EDITOR with the text and takes what it saved", async () => {
    const pty = await start([{ expect: ["ONE more\nand a line"], text: "As edited." }], {
      env: { EDITOR: "ed-it --wait" },
      programs: { "ed-it": `printf '\\033[?1049hediting'; sed -i 's/one/ONE/' "$2"; echo 'and a line' >> "$2"` },
    });
    pty.type("one more\x07");
    await pty.waitFor(/^› ONE more\n {2}and a line$/m);
    pty.type("\r");
    await pty.waitFor("As edited.");
  });

  it("Ctrl+V in the terminal takes an image from the clipboard and sends it", async () => {
    const pty = await start([{ expect: ["see [Image 1]"], text: "Seen." }], {
      env: { WAYLAND_DISPLAY: "w" },
      programs: {
        "wl-paste": `case "$*" in --list-types) echo image/png;; *) echo ${png} | base64 -d;; esac`,
      },
    });
    pty.type("see \x16");
    await pty.waitFor("› see [Image 1]");
    pty.type("\r");
    await pty.waitFor("Seen.");
  });

  it("the terminal offers prompts of MCP servers as slash commands", async () => {
    const server = { command: process.execPath, args: [join(repository, "test/support/mcp-server.mjs"), "prompts"] };
    const pty = await start([{ text: "Here." }, { expect: ["Greet Ada warmly."], text: "Greeted." }], {
      args: ["--force", "--trust", "--approve-mcps"],
      files: { ".cursor/mcp.json": JSON.stringify({ mcpServers: { desk: server } }) },
    });
    pty.type("are you there?\r"); // a turn waits for the servers
    await pty.waitFor(/Done in/);
    pty.type("/commands\r");
    await pty.waitFor(/› \/desk:greet .*prompt/);
    pty.type("\r");
    await pty.waitFor(/^› \/desk:greet ?$/m);
    pty.type("Ada\r");
    await pty.waitFor("Greeted.");
  });
});

describe("notifications", () => {
  it("the terminal's title shows what the run does, and a waiting question notifies the user", async () => {
    const pty = await start([shell("npm root"), { text: "Over." }], {
      args: ["--trust", "--sandbox", "disabled"],
      env: { TERM_PROGRAM: "WezTerm" },
    });
    pty.type("go\r");
    await pty.waitFor("wants permission");
    await pty.waitFor("\x1b]9;courser: a question waits for you\x07", { in: "output" });
    expect(pty.title()).toBe("courser · work · waits for you");
    await new Promise((resolve) => setTimeout(resolve, 600)); // long enough to count as read
    pty.type("y");
    await pty.waitFor("Over.");
    await pty.waitFor(/Done in/);
    expect(pty.title()).toBe("courser · work · done");
  });

  it("the terminal notifies the user at the end of a long turn, not of a short one", () => {
    const told = (env: Record<string, string>, durationMs: number, notifies = true): string => {
      let written = "";
      const tty = { setTitle: () => {} };
      const write = (text: string) => void (written += text);
      new Attention({ tty, write, env, program: "courser", notifies, hasTitle: () => true }).ended(durationMs);
      return written;
    };
    expect(told({ TERM_PROGRAM: "ghostty" }, 11_000)).toBe("\x1b]9;courser: the turn has ended\x07");
    expect(told({ KITTY_WINDOW_ID: "1", TMUX: "x" }, 11_000)).toBe("\x07");
    expect([told({}, 11_000), told({}, 9_000), told({}, 11_000, false)]).toEqual(["\x07", "", ""]);
  });
});

describe("colours of the terminal", () => {
  const answer = [{ text: "## Title\n\nSome `code`.\n\n```ts\nconst a = 1; // one\n```\n" }];
  const coloursOf = async (env: Record<string, string>, meanwhile?: (pty: Pty) => Promise<void>) => {
    const pty = await start(answer, { env: { COLORTERM: "", ...env } });
    await meanwhile?.(pty);
    const from = pty.output().length;
    pty.type("go\r");
    await pty.waitFor(/Done in/);
    const codes = [
      ...pty
        .output()
        .slice(from)
        .matchAll(/\x1b\[([\d;]*)m/g),
    ].map((match) => match[1]!);
    return [...new Set(codes)];
  };

  it("the terminal's colours fit a light background once the terminal reports one", async () => {
    const codes = await coloursOf({ COLORTERM: "truecolor" }, async (pty) => {
      await pty.waitFor("\x1b]11;?", { in: "output" });
      pty.type("\x1b]11;rgb:ffff/fafa/f0f0\x1b\\");
      await pty.waitFor("38;2;106;105;99", { in: "output" }); // the soft grey of light backgrounds
    });
    expect(codes.some((code) => code.includes("38;2;122;62;157"))).toBe(true); // its keywords
    expect(codes.filter((code) => code.includes("38;2;200;162;240"))).toEqual([]); // those of dark ones
  });

  it("the terminal uses sixteen colours if there are no more", async () => {
    const codes = await coloursOf({ TERM: "xterm" });
    expect(codes.some((code) => /^(?:\d;)?35$/.test(code))).toBe(true);
    expect(codes.filter((code) => /[34]8;[25]/.test(code))).toEqual([]);
  });

  it("with NO_COLOR set, the terminal uses no colours", async () => {
    const codes = await coloursOf({ NO_COLOR: "1" });
    expect(codes.flatMap((code) => code.split(";")).filter((code) => Number(code) >= 30)).toEqual([]);
  });
});
