// The table of supported language servers: for which files, and where to look for them.
import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { isObject, tryParse } from "../../json/object.ts";
import { isInside, realOrSame } from "../../policy/paths.ts";
import { findProgram, isProgram } from "../../process/find-program.ts";

export type ServerRow = {
  name: string;
  /** Folders of the project in which to look for the server's program. */
  folders?: readonly string[];
  arguments: readonly string[];
  /** The language id for each supported file extension. */
  languages: Readonly<Record<string, string>>;
  /** The nearest folder with one of these files is the root of the project; by default the workspace is. */
  rootFiles?: readonly string[];
  /** `isConfined`: code of the project may run, since it runs in the sandbox. */
  options?(isConfined: boolean): object;
  /** The errors of a file must be requested in this way, since the server does not report when it has found none. */
  asks?: "tsserver";
  /** Reports whether the program that was found is the one described by this row. */
  fits?(program: string): boolean;
};

const typescript = {
  ".ts": "typescript",
  ".mts": "typescript",
  ".cts": "typescript",
  ".tsx": "typescriptreact",
  ".js": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
  ".jsx": "javascriptreact",
};
const modules = ["node_modules/.bin"];

export const servers: readonly ServerRow[] = [
  // TypeScript 7 and later contain a language server, and typescript-language-server does not work with them.
  {
    name: "tsc",
    folders: modules,
    arguments: ["--lsp", "--stdio"],
    languages: typescript,
    fits: (program) => majorVersionOf(program) >= 7,
  },
  {
    name: "typescript-language-server",
    folders: modules,
    arguments: ["--stdio"],
    languages: typescript,
    // Automatic type acquisition would download packages.
    options: () => ({ disableAutomaticTypingAcquisition: true }),
    asks: "tsserver",
  },
  {
    name: "pyright-langserver",
    folders: [...modules, ".venv/bin", "venv/bin"],
    arguments: ["--stdio"],
    languages: { ".py": "python", ".pyi": "python" },
  },
  { name: "gopls", arguments: ["serve"], languages: { ".go": "go" }, rootFiles: ["go.work", "go.mod"] },
  {
    name: "rust-analyzer",
    arguments: [],
    languages: { ".rs": "rust" },
    rootFiles: ["Cargo.toml"],
    options: (isConfined) =>
      isConfined
        ? { cargo: { targetDir: "/tmp/rust-analyzer" } }
        : { cargo: { buildScripts: { enable: false } }, procMacro: { enable: false }, checkOnSave: false },
  },
  {
    name: "clangd",
    arguments: ["--background-index=false", "--enable-config=false"],
    languages: { ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".hh": "cpp" },
  },
];

export type FoundServer = { row: ServerRow; program: string; root: string };

export type ServerPlaces = {
  workspace: string;
  env: NodeJS.ProcessEnv;
  /** Whether servers run in a sandbox. Otherwise no program from the workspace is started. */
  isConfined: boolean;
};

/** Finds the server for a file: in the project, otherwise in PATH. */
export function serverFor(path: string, { workspace, env, isConfined }: ServerPlaces): FoundServer | undefined {
  const rows = servers.filter(({ languages }) => Object.hasOwn(languages, extname(path).toLowerCase()));
  if (rows.length === 0) return undefined;
  const above = foldersAbove(path, workspace);
  const candidates = [
    ...rows.map((row) => {
      const programs = above.flatMap((folder) => (row.folders ?? []).map((below) => join(folder, below, row.name)));
      return { row, program: programs.find(isProgram) };
    }),
    ...rows.map((row) => ({ row, program: findProgram(row.name, env) })),
  ];
  for (const { row, program } of candidates) {
    if (program === undefined || row.fits?.(program) === false) continue;
    if (!isConfined && [program, realOrSame(program)].some((each) => isInside(each, workspace))) continue;
    const root = above.find((folder) => row.rootFiles?.some((file) => existsSync(join(folder, file))));
    return { row, program, root: root ?? workspace };
  }
  return undefined;
}

/** Returns the folder of the file and all its parents up to the workspace, nearest first. */
function foldersAbove(path: string, workspace: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); isInside(folder, workspace); folder = dirname(folder)) {
    folders.push(folder);
    if (folder === workspace) break;
  }
  return folders;
}

/** Returns the major version of the package that contains a program; 0 if unknown. */
function majorVersionOf(program: string): number {
  try {
    const manifest = tryParse(readFileSync(join(dirname(realOrSame(program)), "..", "package.json"), "utf8"));
    return Number.parseInt(String(isObject(manifest) ? manifest["version"] : 0), 10) || 0;
  } catch {
    return 0;
  }
}
