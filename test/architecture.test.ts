// The shape of the source tree: who may import whom, no cycles, no Node in the leaves, what start-up may load.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { mayImport } from "./support/may-import.ts";

const root = resolve(import.meta.dirname, "..");
const source = join(root, "src");

/** What every stage of the shell's judgement may use: paths, patterns, rules, and how parts are shown. */
const common = ["hard-links.ts", "paths.ts", "protected-names.ts", "rules.ts", "show.ts"];

/** What is loaded before the first line of output. Each name here is paid for by every start. */
const startUp = ["cli", "json", "model", "policy", "protocol", "redact", "run", "store", "text"];

type Import = { path: string; dynamic: boolean; typeOnly: boolean };

const files = list(source);
const imports = new Map(files.map((file) => [file, importsOf(file)]));

describe("architecture", () => {
  it("folders of src import each other in one direction only", () => {
    const wrong: string[] = [];
    for (const [file, list] of imports) {
      const from = folderOf(file);
      for (const { path } of list.filter((each) => each.path.startsWith("."))) {
        const target = folderOf(resolve(dirname(file), path));
        if (target !== from && !mayImport[from]?.includes(target)) wrong.push(`${relative(root, file)} -> ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("commands are judged in stages, each importing only earlier ones", () => {
    const stages = ["parse", "programs", "starts", "files"];
    const wrong: string[] = [];
    for (const [file, list] of imports) {
      const [, stage] = relative(source, file).split("/");
      if (folderOf(file) !== "policy" || !stages.includes(stage!)) continue;
      for (const { path } of list.filter((each) => each.path.startsWith("."))) {
        const target = relative(join(source, "policy"), resolve(dirname(file), path));
        const [other] = target.split("/");
        const isEarlier = stages.indexOf(other!) >= 0 && stages.indexOf(other!) <= stages.indexOf(stage!);
        if (!isEarlier && !common.includes(target) && !target.startsWith(".."))
          wrong.push(`${relative(root, file)} -> ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("every folder is in the table of imports", () => {
    expect([...new Set(files.map(folderOf))].filter((folder) => !(folder in mayImport))).toEqual([]);
  });

  it("modules have no import cycles, including dynamic imports", () => {
    const done = new Set<string>();
    const path: string[] = [];
    const cycles: string[] = [];
    const visit = (file: string): void => {
      if (path.includes(file)) {
        cycles.push([...path.slice(path.indexOf(file)), file].map((each) => relative(source, each)).join(" -> "));
        return;
      }
      if (done.has(file)) return;
      path.push(file);
      for (const next of targets(file)) visit(next);
      path.pop();
      done.add(file);
    };
    for (const file of files) visit(file);
    expect(cycles).toEqual([]);
  });

  it("leaf modules used in browsers do not import Node", () => {
    const leaks = files
      .filter((file) => ["text", "json", "protocol", "redact"].includes(folderOf(file)))
      .filter(
        (file) =>
          imports.get(file)!.some(({ path }) => !path.startsWith(".")) ||
          /\b(Buffer|process)\b\.?[.(]/.test(code(file)),
      );
    expect(leaks.map((file) => relative(root, file))).toEqual([]);
  });

  it("components drawn in browsers do not import Node", () => {
    const leaks = files
      .filter((file) => ["view", "studio/components", "studio/client"].includes(folderOf(file)))
      .filter(
        (file) =>
          imports.get(file)!.some(({ path }) => path.startsWith("node:")) ||
          /\b(Buffer|process)\b\.?[.(]/.test(code(file)),
      );
    expect(leaks.map((file) => relative(root, file))).toEqual([]);
  });

  it("start-up loads only what the first line needs", () => {
    const closure = new Set<string>();
    const visit = (file: string): void => {
      if (closure.has(file)) return;
      closure.add(file);
      for (const next of staticTargets(file)) visit(next);
    };
    for (const entry of ["cli/main.ts", "cli/print.ts"]) visit(join(source, entry));
    expect([...new Set([...closure].map(folderOf))].filter((folder) => !startUp.includes(folder))).toEqual([]);
    const packages = [...closure].flatMap((file) =>
      imports.get(file)!.filter((each) => !each.dynamic && !each.typeOnly && !/^(\.|node:)/.test(each.path)),
    );
    expect(packages.map((each) => each.path)).toEqual([]);
    const heavy = [...closure].flatMap((file) =>
      imports
        .get(file)!
        .filter(
          (each) =>
            !each.dynamic && !each.typeOnly && /^node:(crypto|https?|net|tls|child_process|readline)/.test(each.path),
        ),
    );
    expect(heavy.map((each) => each.path)).toEqual([]);
  });

  it("only the designated modules spawn, fetch and write", () => {
    const using = (pattern: RegExp) =>
      files
        .filter((file) => pattern.test(code(file)))
        .map((file) => relative(source, file))
        .sort();
    const spawns = /from "node:child_process"|(import|getBuiltinModule)\("node:child_process"\)/;
    expect(using(spawns).filter((file) => !file.startsWith("process/"))).toEqual([]);
    const fetches = using(/\bglobalThis\.fetch\b|(?<![.\w])fetch\(/).filter((file) => !file.startsWith("net/"));
    expect(fetches).toEqual(["studio/client/service/http.ts"]); // in a browser, and to its own service
  });

  it("the studio page imports only types from the service", () => {
    const taken = files
      .filter((file) => folderOf(file) === "studio/client")
      .flatMap((file) => imports.get(file)!.filter((each) => /\/serve\//.test(each.path) && !each.typeOnly));
    expect(taken).toEqual([]);
  });

  it("only front ends read the command line, write to standard streams or listen to process events", () => {
    const behind = [
      "run",
      "agent",
      "model",
      "store",
      "policy",
      "net",
      "web",
      "export",
      "serve",
      "eval",
      "protocol",
      "json",
      "text",
      "redact",
    ];
    const reads = /\bprocess\s*\.\s*(?:argv|stdin|stdout|stderr|on|once|addListener|exit|exitCode)\b/;
    const wrong = files
      .filter((file) => behind.includes(folderOf(file)) && !/\/relay\.ts$/.test(file)) // a program of its own
      .filter((file) => reads.test(code(file)));
    expect(wrong.map((file) => relative(root, file))).toEqual(["src/agent/process.ts"]); // hands on what an attached command is sent
  });

  it("files stay below the size limit", () => {
    const long = files
      .map((file) => [relative(root, file), readFileSync(file, "utf8").split("\n").length] as const)
      .filter(([, lines]) => lines > 400);
    expect(long).toEqual([]);
  });
});

function list(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return list(path);
    return /\.tsx?$/.test(name) ? [path] : [];
  });
}

function folderOf(file: string): string {
  const [folder, inner] = relative(source, file).split("/");
  // Other programs use the components as well, so that they stand alone.
  return folder === "studio" ? `studio/${inner}` : folder!;
}

function code(file: string): string {
  return readFileSync(file, "utf8")
    .replace(/String\.raw`#![^`]*`/g, "``") // a script for users is a text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|\s)\/\/.*$/gm, "$1");
}

function importsOf(file: string): Import[] {
  const text = code(file);
  const found: Import[] = [];
  for (const [, typeOnly, names, path] of text.matchAll(
    /^(?:import|export)\s+(type\s+)?([^"';]*?from\s+)?"([^"]+)"/gm,
  )) {
    const onlyTypes =
      Boolean(typeOnly) ||
      (/\{/.test(names ?? "") &&
        !/\{[^}]*(?<!type )\b(?!type )\w+/.test((names ?? "").replace(/\btype \w+( as \w+)?,?/g, "")));
    found.push({ path: path!, dynamic: false, typeOnly: onlyTypes });
  }
  for (const [, path] of text.matchAll(/\bimport\(\s*"([^"]+)"\s*\)/g))
    found.push({ path: path!, dynamic: true, typeOnly: false });
  return found;
}

function targets(file: string, { dynamic } = { dynamic: true }): string[] {
  return imports
    .get(file)!
    .filter(
      (each) =>
        (dynamic || !each.dynamic) && !each.typeOnly && !/\.css(\?raw)?$/.test(each.path) && each.path.startsWith("."),
    )
    .map((each) => resolve(dirname(file), each.path));
}

function staticTargets(file: string): string[] {
  return targets(file, { dynamic: false });
}
