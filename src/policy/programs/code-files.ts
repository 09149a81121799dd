// Finds the programs that code files start, as far as their text shows, and the files they load.
import { existsSync } from "node:fs";
import { resolve } from "node:path";

/** Matches function calls that start a program, whose arguments are then inspected. */
const startCall =
  /(?:\b(?:os\.(?:system|popen|exec[lv]\w*|spawn\w+|posix_spawn\w*|execute)|subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|Popen|check_output|check_call|create_subprocess_\w+|pty\.spawn|execSync|spawnSync|spawn|execFile(?:Sync)?|execa(?:Sync|Command)?|shell_exec|passthru|proc_open|popen|system|Process\.(?:spawn|start)|Open3\.\w+|exec\.Command|Command::new|ProcessBuilder|Deno\.Command|Bun\.spawn(?:Sync)?)|(?<![.\w])exec)(?:[ \t]*\(\s*|[ \t]+(?=["'`[]))/g;
/** Names decoded at run time, which matter if the code can start programs. */
const madeName =
  /\b(b64decode|unhexlify|fromhex|atob|rot13|decodeURIComponent)\b|['"](base64|hex)['"]|getattr\s*\(\s*(os|subprocess)\b/;
const starterModule = /\b(os|subprocess|pty|child_process|Process|Kernel)\b/;
/** Matches code that is created or loaded while the program runs. */
const evaluator =
  /(?<![.\w])eval\s*\(|new Function\(|__import__\s*\(|importlib\.|\bctypes\b|\bvm\.(run|Script)|_eval\b|from(Base64|CharCode)|\bexec\s*\(\s*(?:compile|base64|codecs|zlib)/;
/** Bounded, since each quote of a text in which none is closed would be looked for to the end. */
const quoted = /(["'`])((?:(?!\1)[^\\]|\\.){0,4000})\1/g;

/** Returns quoted texts in order, each with its position including the quotes. */
export function quotedIn(code: string): { text: string; start: number; end: number }[] {
  return Array.from(code.matchAll(quoted), ({ 0: whole, 2: text, index }) => ({
    text: text!,
    start: index,
    end: index + whole.length,
  }));
}

export function quotedTexts(code: string): string[] {
  return quotedIn(code).map(({ text }) => text);
}

/** Returns the commands that a code file would start; with `isOpaque` there may be more. `language` may be a well-known file name. */
export function startsInCode(
  text: string,
  language: string,
  said: ReadonlySet<string>,
): { commands: string[]; isOpaque: boolean } {
  if (language === "package.json") return { commands: packageScripts(text, said), isOpaque: false };
  if (/^(GNUm|m|M|j|J|\.j)(ake|ust)file$/.test(language)) return { commands: recipeLines(text), isOpaque: false };
  const commands: string[] = [];
  let isOpaque = evaluator.test(text) || (madeName.test(text) && starterModule.test(text));
  for (const call of text.matchAll(startCall)) {
    const rest = text.slice(call.index + call[0].length, call.index + call[0].length + 2000);
    const argumentText = /^[["'`({\s]/.test(rest) ? (/^[^)\n;]*/.exec(rest)?.[0] ?? "") : "";
    const texts = quotedTexts(argumentText);
    const isBuilt =
      texts.some((each) => /\$\{|#\{|%[sd]|\{\w*\}/.test(each)) || /["'`]\s*(\+|%|\.format)/.test(argumentText);
    if (texts.length === 0 || isBuilt) isOpaque = true;
    if (texts.length > 0) commands.push(texts.join(" "));
  }
  if (/^(perl|ruby|php)/.test(language))
    for (const [, , plain, other] of text.matchAll(/(`)([^`\n]*)`|(?:%x|\bqx)\W([^\n]*)/g))
      commands.push(plain ?? other ?? "");
  return { commands, isOpaque };
}

/** Returns the named scripts, their pre and post scripts, and those that run on every install. */
function packageScripts(text: string, scriptNames: ReadonlySet<string>): string[] {
  try {
    const { scripts = {} } = JSON.parse(text) as { scripts?: Record<string, unknown> };
    const isNamed = (name: string) => scriptNames.has(name) || (name === "test" && scriptNames.has("t"));
    const runs = ([name]: [string, unknown]) =>
      isNamed(name.replace(/^(pre|post)/, "")) || isNamed(name) || /install|prepare/.test(name);
    const found = new Map(Object.entries(scripts).filter(runs));
    // `npm run other`: scripts added during the loop are visited as well.
    for (const [, script] of found)
      for (const name of String(script).split(/[\s;&|]+/))
        if (Object.hasOwn(scripts, name) && !found.has(name)) found.set(name, scripts[name]);
    return Array.from(found.values(), String);
  } catch {
    return [];
  }
}

/** Returns the indented lines, with variable references replaced by the variables' names. */
function recipeLines(text: string): string[] {
  const lines = Array.from(text.matchAll(/^[\t ]+[@-]*(\S.*)$/gm), ([, line]) => line!);
  return lines.map((line) => line.replace(/\$[({](\w+)[)}]/g, "$1").replaceAll("$$", "$"));
}

/** Matches `import package.module`, at the start of a line or of an option's code. */
const importing = /(?:^|[;"'])[ \t]*(?:from|import)\s+([\w.]+)/gm;
/** Matches a loaded file, whatever loads it: `require("./x")`, `runpy.run_path("x.py")`, `do "./x.pl"`. */
const codeFile = /^\.{1,2}\/[^\n]+$|^[^\s"'`]+\.(py|[cm]?[jt]s|rb|p[lm]|lua|php|sh)$/;
const endings = ["", ".py", "/__init__.py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pm", "/index.js", "/index.ts"];

/** Returns the existing files in the folder that a code file loads. */
export function importedFiles(text: string, folder: string): string[] {
  const names = quotedTexts(text).filter((each) => codeFile.test(each));
  names.push(...Array.from(text.matchAll(importing), (found) => found[1]!));
  // Find modules in `from package import module`.
  for (const [, from, list] of text.matchAll(/(?:^|[;"'])[ \t]*from\s+([\w.]+)\s+import\s+([\w, ]+)/gm))
    for (const name of list!.split(/[\s,]+/)) names.push(`${from}.${name}`);
  return [...new Set(names)].slice(0, 100).flatMap((name) => moduleFiles(name, folder));
}

/** Resolves `tools.serve` and `./tools/serve` to files. */
export function moduleFiles(name: string, folder: string): string[] {
  const path = /^[\w.]+$/.test(name) && !name.startsWith(".") ? name.replaceAll(".", "/") : name;
  const found = [name, path].flatMap((each) => endings.map((ending) => resolve(folder, `${each}${ending}`)));
  return [...new Set(found)].filter((file) => existsSync(file)).slice(0, 2);
}
