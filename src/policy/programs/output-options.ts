// Lists options whose value is a file or folder to write, by program.

import type { ShellWord } from "../parse/shell-word.ts";
import { each, list, otherNames, own, words } from "./command-names.ts";
import { type OptionNames, valuesOf } from "./read-options.ts";

const tables: Record<string, OptionNames> = {
  curl: {
    short: "oDc",
    values: "XHduAbeEmxrwUzQtyYCPFKT",
    long: list("output output-dir dump-header cookie-jar trace trace-ascii stderr etag-save hsts alt-svc libcurl"),
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
  gcc: { short: "o", alone: true, exact: /^-(MF|aux-info|dumpdir)$/ },
  ...each("ld ghc as go", { short: "o", alone: true }),
  rustc: { short: "o", alone: true, long: ["out-dir"] },
  cargo: { long: ["target-dir", "out-dir", "root"] },
  ...each("time strace ltrace iconv gpg shuf bison", { short: "o", long: ["output"] }),
  openssl: { exact: /^-(out|keyout)$/ },
  find: { exact: /^-f(print0?|printf|ls)$/ },
  "ssh-keygen": { short: "f" },
  ssh: { short: "ES", values: "bcDeiJLlmOopQRWw" },
  rsync: { long: ["log-file", "write-batch", "only-write-batch", "temp-dir", "backup-dir", "partial-dir"] },
  less: { short: "oO", long: ["log-file"] },
  pandoc: { short: "o", long: ["output", "extract-media"] },
  flex: { short: "o", long: ["outfile"] },
  pip: { short: "t", long: ["target", "prefix", "root", "src", "cache-dir", "log"] },
  npm: { long: ["pack-destination", "cache"] },
  node: {
    long: list(`
      redirect-warnings diagnostic-dir report-dir cpu-prof-dir heap-prof-dir trace-event-file-pattern report-filename
      localstorage-file cpu-prof-name heap-prof-name`),
  },
  vim: { long: ["startuptime"] },
  protoc: { long: ["cpp_out", "python_out", "java_out", "js_out", "go_out", "descriptor_set_out"] },
  docker: { long: ["iidfile", "cidfile", "metadata-file"] },
  patch: { short: "or", long: ["output", "reject-file", "directory"] },
  ...each("tcpdump tshark", { short: "w" }),
  ...each("tree sdiff", { short: "o", long: ["output"], alone: true }),
  nmap: { exact: /^-o[NXSGA]$/ },
  psql: { short: "oL", long: ["output", "log-file"] },
  pg_dump: { short: "f", long: ["file"] },
  mysqldump: { short: "r", long: ["result-file", "tab"] },
  tsc: { exact: /^--?(outFile|outDir|declarationDir|tsBuildInfoFile)$/i },
};
const sameTable = otherNames({ gcc: "cc g++ c++ clang clang++", pip: "pip3", sort: "gsort", tar: "gtar bsdtar" });
/** Programs whose purpose is to write that file or folder. */
const purposeful = words("csplit cp mv ln install tar unzip gcc ld ghc as go rustc cargo tsc protoc patch");

/** Returns the files that a program's options name for writing. `isPurpose` means that writing them is the program's purpose. */
export function optionOutputs(base: string, args: readonly ShellWord[]): (ShellWord & { isPurpose: boolean })[] {
  const program = own(sameTable, base) ?? base;
  const options = own(tables, program);
  if (!options) return [];
  // A lone dash means standard output.
  const files = valuesOf(args, options).filter((word) => word.value !== "-");
  return files.map((word) => ({ ...word, isPurpose: purposeful.has(program) }));
}
