// mcp.json: which servers are read, what they become with their variables filled in, and what is wrong with others.
import { join } from "node:path";
import { expect, it } from "vitest";
import { hasMcpFiles, mcpFiles } from "../../src/store/mcp-paths.ts";
import { readMcpServers } from "../../src/store/mcp-servers.ts";
import { resolveServer } from "../../src/store/mcp-variables.ts";
import { type Files, type Place, placed, rowOf, shortly, warned } from "./read-kit.ts";

it("mcp.json is read and its variables are filled in as the table says", async () => {
  const rows: string[] = [];
  const said = (title: string, place: Place, work: () => unknown) => void rows.push(...rowOf(title, place, work));
  rows.push("# servers");
  const env = { PATH: "/bin", LC_ALL: "C", TOKEN: "t", EMPTY: "", TZ: undefined };
  const seen = (files: Files, { title = "", folder = "work" } = {}) => {
    const place = placed(files);
    place.workspace = join(place.home, folder);
    const name =
      title ||
      Object.entries(files)
        .map(([file, content]) => `${file} ${shortly(content)}`)
        .join("; ");
    said(name, place, () => {
      const warnings: string[] = [];
      const servers = readMcpServers(place, warnings).map((server) => {
        const { definition, scope, file, folder, ...rest } = server;
        const context = { workspace: place.workspace, home: place.home, env };
        const resolved = () => {
          try {
            return rest.problem === undefined ? resolveServer(server, context) : undefined;
          } catch (error) {
            return (error as Error).message;
          }
        };
        return { ...rest, of: [scope, file, folder], definition, resolved: resolved() };
      });
      return [...servers, ...warned(warnings), ...(hasMcpFiles(place) ? [] : ["no file"])];
    });
  };
  const project = "work/.cursor/mcp.json";
  seen({});
  for (const content of [
    {},
    { other: 1 },
    { mcpServer: {} },
    { mcpServers: [] },
    { mcpServers: null },
    { mcpServers: {} },
  ])
    seen({ [project]: content });
  for (const [index, definition] of [
    {
      command: "c",
      args: [
        "a",
        "${TOKEN}",
        "${env:TOKEN}",
        "${EMPTY}",
        "${userHome}",
        "${workspaceFolder}",
        "${workspaceFolderBasename}",
        "${pathSeparator}${/}",
        "${not a name}",
        "$TOKEN",
        "${NONE:-other}",
        "${NONE:-}",
        "${TOKEN:-other}",
        "${env:userHome:-x}",
      ],
      env: { A: "${TOKEN}" },
    },
    { command: "./c", cwd: "sub" },
    { command: "a/c", type: "stdio" },
    { command: "/c", cwd: "${workspaceFolder}" },
    { command: "${NONE}" },
    { command: "c", cwd: "${NONE}" },
    {
      url: "https://a.test/mcp",
      headers: { Authorization: "Bearer ${TOKEN}" },
      auth: { CLIENT_ID: "${TOKEN}", CLIENT_SECRET: "${EMPTY}", scopes: ["${TOKEN}"] },
    },
    { url: "https://a.test/mcp", auth: { CLIENT_ID: "i" } },
    { url: "https://a.test/mcp", auth: { CLIENT_ID: "" } },
    { url: "https://a.test/mcp", auth: { CLIENT_ID: "i", CLIENT_SECRET: "" } },
    { url: "https://a.test/mcp", auth: { CLIENT_ID: "i", scopes: [7] } },
    { url: "https://a.test/mcp", auth: 7 },
    { url: "http://${TOKEN}.test/" },
    { url: "${TOKEN}" },
    { url: "ftp://${TOKEN}" },
    { url: "ftp://a.test" },
    { url: "a.test" },
    { url: "https://a.test", type: "sse" },
    { url: "https://a.test", type: "HTTP" },
    { url: "https://a.test", type: "streamable-http" },
    { url: "https://a.test", type: "streamableHttp" },
    { url: "https://a.test", type: "stdio" },
    { command: "c", type: "http" },
    { command: "c", type: "toString" },
    { command: "c", type: "constructor" },
    {
      command: "c",
      tipe: 1,
      comand: 1,
      arg: 1,
      envs: 1,
      envFiles: 1,
      cwds: 1,
      urls: 1,
      header: 1,
      auths: 1,
      allwaysAllow: 1,
      disable: 1,
    },
    {
      ...{
        command: "c",
        args: [],
        env: {},
        envFile: ".cursor/env",
        cwd: ".",
        headers: { a: "b" },
        auth: { CLIENT_ID: "i" },
      },
      ...{ alwaysAllow: [], disabled: false, type: "stdio" },
    },
    { command: "c", url: "https://a.test" },
    {},
    { command: "", args: "a", env: [], disabled: "x", alwaysAllow: [7] },
    { command: "c", arg: [], later: 1, alwaysAllow: ["look"], disabled: true },
    { command: "c\0" },
    { command: "c", args: ["", "a\0"] },
    7,
  ].entries())
    seen({ [project]: { mcpServers: { [`s${index}`]: definition } } }, { title: JSON.stringify(definition) });
  for (const name of ["a:b", "", " ", "a\u0007", "a\u007f", "x".repeat(100), "x".repeat(101), "with blank"])
    seen({ [project]: { mcpServers: { [name]: { command: "c" } } } }, { title: `the name ${JSON.stringify(name)}` });
  for (const text of [
    "A=1",
    "export A=1 # why",
    'A="x\\n\\t\\r\\"\\\\ # no" # why',
    "A='x\\n'",
    " A = b c ",
    "A=\nB=2",
    "# A=1\n1A=2\nno line",
    'A="x',
    "\r\nA=1\r\nB=2\r\n",
    "A=$TOKEN",
  ])
    seen({ [project]: { mcpServers: { s: { command: "c", envFile: ".env", env: { B: "own" } } } }, "work/.env": text });
  for (const size of [65_536, 65_537])
    seen(
      { [project]: { mcpServers: { s: { command: "c", envFile: ".env" } } }, "work/.env": "#".repeat(size) },
      { title: `an envFile of ${size} bytes` },
    );
  seen({ [project]: { mcpServers: { s: { command: "c", envFile: "none" } } } });
  seen({ [project]: { mcpServers: { s: { command: "c", envFile: ".cursor" } } } });
  seen({
    ".cursor/mcp.json": { mcpServers: { mine: { command: "./m" } } },
    [project]: { mcpServers: { mine: { command: "p" } } },
  });
  seen({ ".cursor/mcp.json": { mcpServers: { mine: { command: "m" } } } }, { folder: "." });
  const inner = {
    "work/inner/.cursor/mcp.json": { mcpServers: { inner: { command: "i" } } },
    [project]: { mcpServers: { outer: { command: "./o" } } },
  };
  seen(inner, { folder: "work/inner" });
  seen({ ...inner, "work/inner/.git": "gitdir: x" }, { folder: "work/inner" });
  const outside = placed({ "free/a/x": "" });
  said("folders outside of a repository", outside, () =>
    mcpFiles({ ...outside, workspace: join(outside.home, "free/a") }).map(({ file }) => file),
  );
  said("the root", outside, () => mcpFiles({ ...outside, workspace: "/" }).map(({ file }) => file));
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "read-servers.txt"));
});
