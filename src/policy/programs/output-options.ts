// Lists options whose value is a file or folder to write, by program.

import type { ShellWord } from "../parse/shell-word.ts";
import { each, list, own, programOf, words } from "./command-names.ts";
import { writesAsKnown } from "./program-kinds.ts";
import { type OptionNames, valuesOf } from "./read-options.ts";

const tables: Record<string, OptionNames> = {
  curl: {
    short: "oDc",
    values: "XHduAbeEmxrwUzQtyYCPFKT",
    long: list(
      "output output-dir dump-header cookie-jar trace trace-ascii stderr etag-save hsts alt-svc ssl-sessions libcurl",
    ),
  },
  wget: {
    short: "OPoa",
    values: "UtTwQlADIRXBei",
    long: list("output-document directory-prefix output-file append-output save-cookies warc-file hsts-file"),
  },
  sort: { short: "oT", values: "kSt", long: ["output", "temporary-directory"] },
  tar: { short: "C", values: "fbgHKLNTVXIF", long: ["directory", "index-file", "volno-file", "one-top-level"] },
  unzip: { short: "d" },
  csplit: { short: "f", values: "bn", long: ["prefix"] },
  ...each("cp mv ln install", { short: "t", long: ["target-directory"] }),
  gcc: { short: "o", alone: true, exact: /^-(MF|MJ|aux-info|dumpdir|-?serialize-diagnostics|index-store-path)$/ },
  ld: { short: "o", alone: true, exact: /^--?Map$/, long: ["dependency-file"] },
  javac: { exact: /^-[dsh]$/ },
  mvn: { short: "l", long: ["log-file"], alone: true },
  ...each("ghc as go rustc", { short: "o", alone: true, long: ["out-dir"] }),
  cargo: { long: ["target-dir", "out-dir", "root"] },
  docker: { long: ["iidfile", "cidfile", "metadata-file"] },
  ...each("time strace ltrace iconv gpg shuf bison flex", { short: "o", long: ["output", "outfile"] }),
  openssl: { exact: /^-(out|keyout)$/ },
  find: { exact: /^-f(print0?|printf|ls)$/ },
  "ssh-keygen": { short: "f" },
  ssh: { short: "ES", values: "bcDeiJLlmOopQRWw" },
  rsync: { long: ["log-file", "write-batch", "only-write-batch", "temp-dir", "backup-dir", "partial-dir"] },
  less: { short: "oO", long: ["log-file"] },
  pandoc: { short: "o", long: ["output", "extract-media"] },
  ...each("ansible-galaxy conda zig", { short: "p", long: ["prefix"] }),
  bundle: { long: ["path"] },
  rollup: { short: "do", long: ["file", "dir"] },
  pip: { short: "tdw", long: ["dest", "wheel-dir", "target", "prefix", "root", "src", "cache-dir", "log"] },
  node: {
    long: list(`
      redirect-warnings diagnostic-dir report-dir cpu-prof-dir heap-prof-dir trace-event-file-pattern report-filename
      localstorage-file cpu-prof-name heap-prof-name`),
  },
  npm: { long: ["pack-destination", "cache"] },
  vim: { long: ["startuptime"] },
  patch: { short: "or", long: ["output", "reject-file", "directory"] },
  ...each("tcpdump tshark", { short: "w" }),
  ...each("tree sdiff", { short: "o", long: ["output"], alone: true }),
  nmap: { exact: /^-o[NXSGA]$/ },
  psql: { short: "oL", long: ["output", "log-file"] },
  ...each("pg_dump pg_dumpall", { short: "f", long: ["file"] }),
  mysqldump: { short: "r", long: ["result-file", "tab"] },
  tsc: { exact: /^--?(outFile|outDir|declarationDir|tsBuildInfoFile|b|build)$/i },
};
/** Programs that are meant to write the file or folder in that option. */
const purposeful = words("csplit cp mv ln install tar unzip gcc ld javac ghc as go rustc cargo tsc patch");

/** Returns whether a table says which short options of the program write. */
export const hasOutputOptions = (base: string) => Object.hasOwn(tables, programOf(base));

/** Returns the files that a program's options name for writing. `isPurpose` means that writing them is the program's purpose. */
export function optionOutputs(base: string, args: readonly ShellWord[]): (ShellWord & { isPurpose: boolean })[] {
  const program = programOf(base);
  const options = own(tables, program);
  const listed = options ? valuesOf(args, options) : [];
  const usual = options || !writesAsKnown(base) ? args.flatMap(usualOutput(options !== undefined)) : [];
  const isPurpose = purposeful.has(program);
  // A single dash means standard output.
  return [
    ...listed.map((word) => ({ ...word, isPurpose })),
    ...usual.filter((word) => !listed.includes(word)).map((word) => ({ ...word, isPurpose: true })),
  ].filter((word) => word.value !== "-");
}

/** Matches the names that programs usually give to options for output files. */
const usualName =
  /^-(?:o|-?(?:[\w.-]*[-_.])?(?:out(?:put)?|dest(?:ination)?|logs?|reports?|target|cache|coverage|dump|save|trace|record|\w{0,6}prof(?:ile)?|junit-?xml|basetemp|workdir|metafile|install)(?:[-_]?(?:file|dir(?:ectory)?|path|folder|base|location|html|xml|json))*)(?:=(.*))?$/is;

/** Returns a function that finds the value of a usual output option; for a listed program, only a path that leads elsewhere. */
function usualOutput(isListed: boolean) {
  return (arg: ShellWord, at: number, args: readonly ShellWord[]): ShellWord[] => {
    const found = usualName.exec(arg.value);
    const next = found?.[1] === undefined ? args[at + 1] : { ...arg, value: found[1], tilde: found[1].startsWith("~") };
    const isMeant = !isListed || (arg.value !== "-o" && /^[~/]|(^|\/)\.\.(\/|$)/.test(next?.value ?? ""));
    return found && isMeant && next && !next.value.startsWith("-") ? [next] : [];
  };
}
