// Build tools and package managers run what a file of the project says, without being told its name.

import { type CommandWords, literalWord, type ShellWord } from "../parse/shell-word.ts";
import { baseName, own, words } from "./command-names.ts";
import { valuesOf } from "./read-options.ts";

const packages = words("package.json");

const scriptFiles: Record<string, ReadonlySet<string>> = {
  make: words("Makefile makefile GNUmakefile"),
  gmake: words("Makefile makefile GNUmakefile"),
  npm: packages,
  pnpm: packages,
  yarn: packages,
  bun: packages,
  just: words("justfile Justfile .justfile"),
  rake: words("Rakefile rakefile"),
  task: words("Taskfile.yml Taskfile.yaml"),
  ant: words("build.xml"),
  gradle: words("build.gradle build.gradle.kts settings.gradle"),
  gradlew: words("build.gradle build.gradle.kts settings.gradle"),
  mvn: words("pom.xml"),
  mvnw: words("pom.xml"),
  cmake: words("CMakeLists.txt"),
  ninja: words("build.ninja"),
  scons: words("SConstruct"),
  invoke: words("tasks.py"),
  cargo: words("build.rs Cargo.toml"),
};

/** Subcommands that run nothing of it. */
const idle = /^(pkg|init|create|view|info|ls|list|outdated|search|--version|-v)$/;

/** The files that a program runs, or takes commands from. */
export function scriptsOf({ name, args }: CommandWords): ShellWord[] {
  const base = baseName(name.value);
  if (base === "go" && args[0]?.value === "run") return args.slice(1).filter((arg) => arg.value.endsWith(".go"));
  const files = own(scriptFiles, base);
  if (!files || idle.test(args[0]?.value ?? "")) return [];
  const named = /^g?make$/.test(base) ? valuesOf(args, { short: "f", long: ["file", "makefile"] }) : [];
  const usual = [...files].map(literalWord);
  return [...named, ...usual];
}
