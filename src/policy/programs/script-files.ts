// Finds the project files that build tools and package managers run without being given their name.

import { type CommandWords, literalWord, type ShellWord } from "../parse/shell-word.ts";
import { baseName, each, own } from "./command-names.ts";
import { valuesOf } from "./read-options.ts";

const scriptFiles: Record<string, readonly string[]> = {
  ...each("make gmake", ["Makefile", "makefile", "GNUmakefile"]),
  ...each("npm pnpm yarn bun", ["package.json"]),
  just: ["justfile", "Justfile", ".justfile"],
  rake: ["Rakefile", "rakefile"],
  task: ["Taskfile.yml", "Taskfile.yaml"],
  ant: ["build.xml"],
  ...each("gradle gradlew", ["build.gradle", "build.gradle.kts", "settings.gradle"]),
  ...each("mvn mvnw", ["pom.xml"]),
  cmake: ["CMakeLists.txt"],
  ninja: ["build.ninja"],
  scons: ["SConstruct"],
  invoke: ["tasks.py"],
  cargo: ["build.rs", "Cargo.toml"],
};

/** Returns whether plain arguments of the program are task names. */
export function isTaskRunner(base: string): boolean {
  return (
    Object.hasOwn(scriptFiles, base) || /^(go|dotnet|bazel|nx|turbo|lerna|rails|deno|terraform|tox|nox)$/.test(base)
  );
}

/** Matches subcommands of npm and others that run no script. */
const idle = /^(pkg|init|create|view|info|ls|list|outdated|search|--version|-v)$/;

/** Returns the files that a program runs or takes commands from. */
export function scriptsOf({ name, args }: CommandWords): ShellWord[] {
  const base = baseName(name.value);
  if (base === "go" && args[0]?.value === "run") return args.slice(1).filter((arg) => arg.value.endsWith(".go"));
  const files = own(scriptFiles, base);
  if (!files || idle.test(args[0]?.value ?? "")) return [];
  const named = /^g?make$/.test(base) ? valuesOf(args, { short: "f", long: ["file", "makefile"] }) : [];
  return [...named, ...files.map(literalWord)];
}
