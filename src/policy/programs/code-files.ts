// Files of code: what they start, as far as their text says, and which others they load.
import { existsSync } from "node:fs";
import { resolve } from "node:path";

/** Calls that start a program. What they are given is looked at. */
const startCall =
  /(?:\b(?:os\.(?:system|popen|exec[lv]\w*|spawn\w+|posix_spawn\w*|execute)|subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|Popen|check_output|check_call|create_subprocess_\w+|pty\.spawn|execSync|spawnSync|spawn|execFile(?:Sync)?|execa(?:Sync|Command)?|shell_exec|passthru|proc_open|popen|system|Process\.(?:spawn|start)|Open3\.\w+|exec\.Command|Command::new|ProcessBuilder|Deno\.Command|Bun\.spawn(?:Sync)?)|(?<![.\w])exec)(?:[ \t]*\(\s*|[ \t]+(?=["'`[]))/g;
/** Code that is made while it runs. */
const evaluator =
  /(?<![.\w])eval\s*\(|new Function\(|__import__\s*\(|importlib\.|\bctypes\b|\bvm\.(run|Script)|_eval\b|from(Base64|CharCode)|\bexec\s*\(\s*(?:compile|base64|codecs|zlib)/;
const quoted = /(["'`])((?:(?!\1)[^\\]|\\.)*)\1/g;

/** The commands that a file of code would start. `isOpaque`: there may be others. `language`: or the name of a usual file. */
export function startsInCode(
  text: string,
  language: string,
  said: ReadonlySet<string>,
): { commands: string[]; isOpaque: boolean } {
  if (language === "package.json") return { commands: packageScripts(text, said), isOpaque: false };
  if (/^(GNUm|m|M|j|J|\.j)(ake|ust)file$/.test(language)) return { commands: recipes(text), isOpaque: false };
  const commands: string[] = [];
  let isOpaque = evaluator.test(text);
  for (const call of text.matchAll(startCall)) {
    const rest = text.slice(call.index + call[0].length, call.index + call[0].length + 2000);
    const given = /^[["'`({\s]/.test(rest) ? (/^[^)\n;]*/.exec(rest)?.[0] ?? "") : "";
    const texts = [...given.matchAll(quoted)].map((found) => found[2]!);
    const isBuilt = texts.some((each) => /\$\{|#\{|%[sd]|\{\w*\}/.test(each)) || /["'`]\s*(\+|%|\.format)/.test(given);
    if (texts.length === 0 || isBuilt) isOpaque = true;
    if (texts.length > 0) commands.push(texts.join(" "));
  }
  if (/^(perl|ruby|php)/.test(language))
    for (const [, , plain, other] of text.matchAll(/(`)([^`\n]*)`|(?:%x|\bqx)\W([^\n]*)/g))
      commands.push(plain ?? other ?? "");
  return { commands, isOpaque };
}

/** Scripts that are named, with those before and after them and those that run with every installation. */
function packageScripts(text: string, said: ReadonlySet<string>): string[] {
  try {
    const { scripts = {} } = JSON.parse(text) as { scripts?: Record<string, unknown> };
    const isNamed = (name: string) => said.has(name) || (name === "test" && said.has("t"));
    const runs = ([name]: [string, unknown]) =>
      isNamed(name.replace(/^(pre|post)/, "")) || isNamed(name) || /install|prepare/.test(name);
    const first = Object.entries(scripts)
      .filter(runs)
      .map(([, script]) => String(script));
    // `npm run other`: one level is what people write.
    const named = new Set(first.flatMap((script) => script.split(/[\s;&|]+/)));
    const second = Object.entries(scripts)
      .filter(([name]) => named.has(name))
      .map(([, script]) => String(script));
    return [...first, ...second];
  } catch {
    return [];
  }
}

/** The indented lines, with the names of variables in their place. */
function recipes(text: string): string[] {
  const lines = Array.from(text.matchAll(/^[\t ]+[@-]*(\S.*)$/gm), ([, line]) => line!);
  return lines.map((line) => line.replace(/\$[({](\w+)[)}]/g, "$1").replaceAll("$$", "$"));
}

const importing = [
  /(?:\brequire\s*\(|\bimport\s*\(?|\bfrom|\brequire_relative|\bload|\brequire)\s*(["'])(\.{1,2}\/[^"'\n]+|[^"'\n]+\.rb)\1/g,
  /^[ \t]*(?:from|import)()\s+([\w.]+)/gm,
];
const endings = ["", ".py", "/__init__.py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pm", "/index.js", "/index.ts"];

/** The files beside it that a file of code loads, of those that are there. */
export function importedFiles(text: string, folder: string): string[] {
  const names = importing.flatMap((each) => Array.from(text.matchAll(each), (found) => found[2]!));
  // `from package import module`
  for (const [, from, list] of text.matchAll(/(?:^|[;"'])[ \t]*from\s+([\w.]+)\s+import\s+([\w, ]+)/gm))
    names.push(
      ...list!
        .split(/[\s,]+/)
        .filter(Boolean)
        .map((name) => `${from}.${name}`),
    );
  return [...new Set(names)].slice(0, 100).flatMap((name) => moduleFiles(name, folder));
}

/** `tools.serve` and `./tools/serve`, as files. */
export function moduleFiles(name: string, folder: string): string[] {
  const path = /^[\w.]+$/.test(name) && !name.startsWith(".") ? name.replaceAll(".", "/") : name;
  const found = [name, path].flatMap((each) => endings.map((ending) => resolve(folder, `${each}${ending}`)));
  return [...new Set(found)].filter((file) => existsSync(file)).slice(0, 2);
}
