// Runs a provider against a small executor of tools on real files, as the agent's loop would.
import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { ModelError, type Provider, type ToolSpec } from "../../src/model/provider.ts";
import type { Message, Part } from "../../src/protocol/message.ts";

export type Call = { name: string; args: any; id: string };
export type Outcome = { text: string; isError: boolean };
export type Conversation = {
  messages: Message[];
  calls: Call[];
  text: string;
  deltas: string[];
  error: ModelError | undefined;
};

export type Tools = Record<string, (args: any) => Outcome | Promise<Outcome>>;

const mcpParameters = {
  type: "object",
  properties: { title: { type: "string" }, priority: { type: "number" } },
  required: ["title"],
};
const echoParameters = { type: "object", properties: { message: { type: "string" } }, required: ["message"] };

export function specsOf(names: readonly string[]): ToolSpec[] {
  return names.map((name) => ({
    name,
    description: "",
    parameters: name === "linear-create_issue" ? mcpParameters : name === "everything-echo" ? echoParameters : {},
  }));
}

/** One prompt to its answer. `messages`: what was said before; the result holds it all. */
export async function converse(
  provider: Provider,
  prompt: string,
  tools: Tools,
  messages: Message[] = [],
): Promise<Conversation> {
  const said = [...messages, { role: "user", parts: [{ type: "text", text: prompt }] } satisfies Message];
  const calls: Call[] = [];
  const deltas: string[] = [];
  const signal = new AbortController().signal;
  let text = "";
  for (let reply = 0; reply < 50; reply += 1) {
    const parts: Part[] = [];
    try {
      const request = { model: "offline", system: "", messages: said, tools: specsOf(Object.keys(tools)), signal };
      for await (const chunk of provider.stream(request)) {
        if (chunk.type === "text") deltas.push(chunk.text);
        if (chunk.type === "part") parts.push(chunk.part);
      }
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      return { messages: said, calls, text, deltas, error };
    }
    said.push({ role: "assistant", parts, provider: provider.id });
    for (const part of parts) if (part.type === "text") text += part.text;
    const asked = parts.filter((part) => part.type === "tool_call");
    if (asked.length === 0) return { messages: said, calls, text, deltas, error: undefined };
    const results: Part[] = [];
    for (const { id, name, args } of asked) {
      calls.push({ id, name, args });
      const outcome = await attempt(() =>
        (tools[name] ?? (() => ({ text: `There is no tool named ${name}.`, isError: true })))(args),
      );
      results.push({ type: "tool_result", id, ...outcome });
    }
    said.push({ role: "user", parts: results });
  }
  throw new Error("the model did not come to an end");
}

async function attempt(use: () => Outcome | Promise<Outcome>): Promise<Outcome> {
  try {
    return await use();
  } catch (error) {
    return { text: String(error), isError: true };
  }
}

export type Workspace = { root: string; read(path: string): string | undefined; [Symbol.dispose](): void };

export function workspace(files: Record<string, string>): Workspace {
  const root = mkdtempSync(join(tmpdir(), "courser-offline-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return {
    root,
    read: (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

const good = (text: string): Outcome => ({ text, isError: false });
const bad = (text: string): Outcome => ({ text, isError: true });

/** Texts in the shapes of the agent's own tools. `shell: "pretend"` runs nothing. */
export function toolsIn(root: string, options: { shell: "real" | "pretend" } = { shell: "pretend" }): Tools {
  const at = (path = "."): string => {
    const whole = resolve(root, path);
    if (path.startsWith("~")) throw new Error(`${path} is outside of the workspace`);
    if (whole !== root && !whole.startsWith(`${root}/`)) throw new Error(`${path} is outside of the workspace`);
    return whole;
  };
  const files = (path?: string): string[] => {
    const start = at(path);
    if (statSync(start).isFile()) return [relative(root, start)];
    return readdirSync(start, { recursive: true, encoding: "utf8" })
      .map((name) => join(relative(root, start), name))
      .filter((name) => !/^\.git(?:\/|$)/.test(name) && statSync(at(name)).isFile())
      .sort();
  };
  return {
    LS: ({ path }) =>
      existsSync(at(path))
        ? good([`${path ?? "."}/`, ...readdirSync(at(path)).sort()].join("\n"))
        : bad(`Directory not found: ${path}`),
    Read({ path, offset = 1, limit }) {
      if (!existsSync(at(path))) return bad(`File not found: ${at(path)}. Find it with Glob or LS.`);
      if (statSync(at(path)).isDirectory()) return bad(`${at(path)} is a directory.`);
      const text = readFileSync(at(path), "utf8");
      if (text === "") return good("(The file is empty.)");
      const lines = text.split("\n");
      const end = Math.min(lines.length, limit === undefined ? lines.length : offset - 1 + limit);
      const part = lines.slice(offset - 1, end).join("\n");
      const more = end < lines.length ? ` Continue with offset ${end + 1}.` : "";
      return good(
        offset === 1 && end === lines.length ? part : `${part}\n\n[Lines ${offset}-${end} of ${lines.length}.${more}]`,
      );
    },
    Write({ path, content, onlyNew }) {
      if (onlyNew && existsSync(at(path))) return bad(`${at(path)} already exists.`);
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
      return good(`Wrote contents to ${at(path)}`);
    },
    Edit({ path, edits }) {
      if (!existsSync(at(path))) return bad("File not found");
      let text = readFileSync(at(path), "utf8");
      for (const { oldText, newText, replaceAll } of edits) {
        const count = text.split(oldText).length - 1;
        if (count === 0) return bad("oldText was not found.");
        if (count > 1 && !replaceAll) return bad(`oldText occurs ${count} times.`);
        text = text.replaceAll(oldText, () => newText);
      }
      writeFileSync(at(path), text);
      return good(`Edited ${path}`);
    },
    Delete({ path }) {
      if (!existsSync(at(path))) return bad("File not found");
      if (statSync(at(path)).isDirectory()) return bad(`${at(path)} is a directory.`);
      rmSync(at(path));
      return good(`Deleted ${path}`);
    },
    Glob({ pattern, path }) {
      const shape = pattern
        .replace(/[.+^$()|[\]\\]/g, "\\$&")
        .replace(/\?/g, "[^/]")
        .replace(/\{([^}]*)\}/g, (_: string, names: string) => `(?:${names.replaceAll(",", "|")})`)
        .replace(/\*\*\//g, "\u0000")
        .replace(/\*/g, "[^/]*")
        .replaceAll("\u0000", "(?:.*/)?");
      const test = new RegExp(`^${shape}$`);
      const found = files(path).filter((file) => test.test(path ? relative(path, file) : file));
      return good(found.join("\n") || "No files match.");
    },
    Grep({ pattern, path, glob, outputMode, caseInsensitive }) {
      if (path && !existsSync(at(path))) return bad(`Path not found: ${path}`);
      const test = new RegExp(pattern, caseInsensitive ? "i" : "");
      const lines: string[] = [];
      for (const file of files(path)) {
        if (glob && !file.endsWith(glob.replace("*", ""))) continue;
        const hits = readFileSync(at(file), "utf8")
          .split("\n")
          .map((line, index) => ({ line, index }))
          .filter(({ line }) => test.test(line));
        if (hits.length === 0) continue;
        if (outputMode === "files_with_matches") lines.push(file);
        else if (outputMode === "count") lines.push(`${file}:${hits.length}`);
        else lines.push(file, ...hits.map(({ line, index }) => `${index + 1}:${line}`));
      }
      return good(lines.join("\n") || "No matches.");
    },
    Shell({ command, workingDirectory }) {
      if (options.shell === "pretend") return good(`ran ${command}\n`);
      // Nothing here may reach beyond the folder, whatever the model makes of a prompt.
      if (/\bsudo\b|(?:^|[\s'"=(])(?:~|\/(?!dev\/null)|\.\.)|\b(?:shutdown|reboot|kill\w*|mkfs|dd)\b/.test(command))
        return bad("Rejected: beyond the workspace");
      return new Promise((done) => {
        execFile("bash", ["-c", command], { cwd: at(workingDirectory), timeout: 10_000 }, (error, stdout, stderr) => {
          const output = stdout + stderr || "(no output)";
          done(error ? bad(`${output.replace(/\n?$/, "\n")}[exit code ${error.code}]`) : good(output));
        });
      });
    },
    TodoWrite: ({ todos }) => good(`${todos.length} todos`),
    WebFetch: ({ url }) => good(`The page at ${url}`),
    WebSearch: ({ query }) => good(`Pages about ${query}`),
    "linear-create_issue": ({ title }) => good(`Created ${title}`),
    "everything-echo": ({ message }) => good(`Echo: ${message}`),
  };
}
