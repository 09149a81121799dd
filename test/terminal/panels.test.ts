// The panels of settings, permission rules and keys, as a person uses them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createPalette, plainText } from "../../src/terminal/painted.ts";
import { listPanel } from "../../src/terminal/panels/list.ts";
import { ready, send, shell, starter } from "./started.ts";

const start = starter();
const down = "\x1b[B";
const wide = { columns: 100, rows: 30 };

it("/config shows every setting, changes it in place, checks and saves it", async () => {
  const { pty, workspace } = await start([], wide);
  const saved = (file: string) => JSON.parse(readFileSync(join(workspace.env["HOME"]!, ".cursor", file), "utf8"));
  await ready(pty);
  send(pty, "/config");
  await pty.waitFor(/› model +auto +Model to use .*default/);
  await pty.waitFor(/retries|\d+ · ↑↓ move · type to filter · enter changes/);
  pty.type("vimMode\r"); // narrowed to one, and switched
  await pty.waitFor(/› editor\.vimMode +true .*cli-config\.json/);
  expect(saved("cli-config.json").editor.vimMode).toBe(true);
  await pty.waitFor(/^ agent|vim|run everything/m);
  pty.type("retries\r");
  await pty.waitFor(/retries: 3/);
  pty.type("\x15many\r");
  await pty.waitFor("'retries' must be");
  pty.type("\x157\r");
  await pty.waitFor(/› retries +7 .*courser\.json/);
  expect(saved("courser.json").retries).toBe(7);
  pty.type("\x18"); // back to the default
  await pty.waitFor(/› retries +3 .*default/);
  expect(saved("courser.json").retries).toBeUndefined();
  pty.type("approvalMode\r");
  await pty.waitFor(/› allowlist +now/);
  pty.type(`${down}\r`);
  await pty.waitFor(/› approvalMode +auto-review/);
  expect(saved("cli-config.json").approvalMode).toBe("auto-review");
  // The meaning of what is selected stands whole below the list.
  await pty.waitFor(/^ {3}Who decides on commands that no rule covers/m);
  pty.resize(60, 20); // the column of meanings would be cut to nothing
  await pty.waitFor(/› approvalMode +auto-\S+ +cli-config\.json$/m);
  expect((await pty.screen()).join("\n")).not.toMatch(/ …/);
  pty.resize(wide.columns, wide.rows);
  pty.type("theme\r");
  await pty.waitFor(/› auto +now/);
  const before = pty.output().length;
  pty.type(`${"\x1b[A".repeat(3)}${down.repeat(3)}\r`);
  await pty.waitFor(/› display\.theme +contrast/);
  expect(saved("cli-config.json").display.theme).toBe("contrast");
  expect(pty.output().slice(before)).toContain("\x1b[1;94m › "); // it holds at once
  pty.type("\x1b");
  await ready(pty);
});

it("/copy offers the code blocks of the last answer", async () => {
  const answer = "Do this:\n\n```sh\nnpm ci\nnpm test\n```\n\nOr:\n\n~~~\nmake\n~~~\n";
  const { pty } = await start([{ text: answer }], wide);
  const copied = () =>
    [...pty.output().matchAll(/\x1b\]52;c;(.*?)\x07/g)].map(([, text]) => Buffer.from(text!, "base64").toString());
  await ready(pty);
  send(pty, "how?");
  await pty.waitFor(/Done in/);
  send(pty, "/copy");
  await pty.waitFor(/› the whole answer/);
  await pty.waitFor(/npm ci npm test +sh +2 lines/);
  pty.type(`${down}\r`);
  await pty.waitFor("Copied the code");
  send(pty, "/copy");
  await pty.waitFor(/› the whole answer/);
  pty.type("\r");
  await pty.waitFor("Copied the last answer");
  expect(copied()).toEqual(["npm ci\nnpm test\n", answer]);
});

it("/permissions adds and removes rules, which apply in the chat at once", async () => {
  const { pty, workspace } = await start([shell("touch made"), { text: "Over." }], {
    ...wide,
    args: ["--trust", "--sandbox", "disabled"],
    files: { ".cursor/cli.json": '{"permissions":{"allow":["Shell(make)"],"deny":["Shell(touch)"]}}' },
  });
  const saved = () => JSON.parse(readFileSync(join(workspace.path, ".cursor/cli.json"), "utf8")).permissions;
  await ready(pty);
  send(pty, "/permissions");
  await pty.waitFor("+ add a rule");
  pty.type("touch\r");
  await pty.waitFor(/› keep/);
  pty.type(`${down}\r`);
  await pty.waitFor("removed deny Shell(touch)");
  await pty.waitFor("+ add a rule");
  expect(saved()).toEqual({ allow: ["Shell(make)"], deny: [] });
  pty.type("add\r");
  await pty.waitFor("Rule:");
  pty.type("Shell(touch made)\r");
  await pty.waitFor(/› allow in this project/);
  pty.type("\r");
  await pty.waitFor("✓ allow Shell(touch made)");
  expect(saved().allow).toEqual(["Shell(make)", "Shell(touch made)"]);
  await pty.waitFor(/Shell\(touch made\) +allow/);
  pty.type("\x1b");
  await ready(pty);
  send(pty, "go");
  await pty.waitFor("Over.");
  expect(existsSync(join(workspace.path, "made"))).toBe(true);
});

it("in a window of 60 columns, /context fits, the pager shows how to close it, and a long rule is shown completely", async () => {
  const rule = "Read(~/a/long/folder/with/many/parts/and/a/file/that/is/not/to/be/read.txt)";
  const { pty } = await start([{ text: "Seen." }], {
    columns: 60,
    rows: 20,
    files: { ".cursor/cli.json": JSON.stringify({ permissions: { allow: [], deny: [rule] } }) },
  });
  await ready(pty);
  send(pty, "go");
  await pty.waitFor(/Done in/);
  send(pty, "/context");
  await pty.waitFor(/of \S+ tokens$/m);
  pty.type("\x0f");
  await pty.waitFor(/^ q quits /m);
  pty.type("q");
  await ready(pty);
  send(pty, "/permissions");
  await pty.waitFor(/› \+ add a rule/);
  pty.type(down);
  await pty.waitFor(/› Read\(~\/a\/.*…/);
  expect((await pty.screen()).map((line) => line.trim()).join("")).toContain(rule);
});

it("a narrow list shows both ends of a path, and no detail of which only letters would be left", () => {
  const { panel } = listPanel(createPalette({ depth: 24 }), {
    title: "Rules",
    items: [
      { value: 1, label: "Read(/home/somebody/projects/upload/.cursor/auth.json)", detail: "deny", note: "built in" },
      { value: 2, label: "offline", detail: "A model", note: "built in, needs no key" },
    ],
  });
  const [, rule, offline] = panel.view({ columns: 60, rows: 20 }).lines.map(plainText);
  expect(rule).toMatch(/^ › Read\(\/home.*….*auth\.json\) {2}deny +built in$/);
  expect(offline).toMatch(/^ {3}offline +built in, needs no key$/);
  expect(panel.view({ columns: 100, rows: 20 }).lines.map(plainText)[2]).toContain("A model");
});

it("/login takes the key in a panel without showing it", async () => {
  const { pty, workspace } = await start([], {
    ...wide,
    env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:9/v1", ANTHROPIC_API_KEY: "" },
  });
  await ready(pty);
  send(pty, "/login");
  await pty.waitFor(/› anthropic +Anthropic/);
  pty.type("\r");
  await pty.waitFor("Anthropic API key:");
  pty.type("sk-ant-hidden-1234");
  await pty.waitFor("••••");
  pty.type("\r");
  await pty.waitFor("Key saved for anthropic");
  expect(readFileSync(join(workspace.env["HOME"]!, ".cursor/auth.json"), "utf8")).toContain("sk-ant-hidden-1234");
  expect(pty.output()).not.toContain("hidden-1234");
});

it("/export asks where, and offers the chat's own folder", async () => {
  const { pty, workspace } = await start([{ text: "To be exported." }], wide);
  await ready(pty);
  send(pty, "go");
  await pty.waitFor(/Done in/);
  const before = readdirSync(workspace.path);
  send(pty, "/export");
  await pty.waitFor(/Export to: .*chat-[0-9a-f]+\.md/);
  pty.type("\r");
  await pty.waitFor(/Written to\s[\s\S]*\.md\./);
  const [, file = ""] = /Written to\s([\s\S]*?\.md)\./.exec((await pty.scrollback()).join("\n"))!;
  expect(readFileSync(file.replaceAll("\n", ""), "utf8")).toContain("To be exported.");
  expect(readdirSync(workspace.path)).toEqual(before);
  send(pty, "/export");
  await pty.waitFor("Export to:");
  pty.type("\x1b");
  await ready(pty);
});

it("/model with -e lists the server's models first with the running one marked, and /status knows both", async () => {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data: [{ id: "first-model" }, { id: "second-model" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/v1`;
  try {
    const { pty } = await start([], { ...wide, args: ["--trust", "--model", "second-model", "-e", url] });
    await ready(pty);
    send(pty, "/model");
    await pty.waitFor(/^ {3}first-model +this server\n › second-model +current$/m);
    pty.resize(200, 30); // the notes stay near
    await pty.waitFor(/^ › second-model {60,90}current$/m);
    await pty.waitFor(/… \d+ models without a key/);
    pty.type("\x1b[A\r");
    await pty.waitFor("first-model answers from now on.");
    send(pty, "/status");
    await pty.waitFor(`Model: first-model at ${url}`);
    send(pty, "/opus");
    await pty.waitFor(/key/);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
