// TypeScript examples of the documentation: checked by the compiler all at once, and made into scripts that Node runs.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transformSync } from "esbuild";
import type { Block } from "./doc-examples.ts";
import { repository } from "./run-cli.ts";

/** The text of an example as a module for Node 20. */
export function scriptOf(block: Block): string {
  return transformSync(block.text, { loader: "ts", format: "esm", target: "node20" }).code;
}

/** Of each package entry, where its source is. */
const entries: Record<string, string> = {
  "courser-agent": "src/sdk/index.ts",
  "courser-agent/protocol": "src/protocol/index.ts",
  "courser-agent/policy": "src/policy/index.ts",
  "courser-agent/hooks": "src/bridge/index.ts",
  "courser-agent/adapter": "src/adapter/index.ts",
  "courser-agent/testing": "src/testing/kit/index.ts",
  "courser-agent/fleet": "src/serve/client/index.ts",
  "courser-agent/components": "src/studio/components/index.ts",
};

/** What the compiler says of the examples, with page and line in the place of its file. Empty: nothing. */
export function typeFaults(blocks: readonly Block[]): string {
  const folder = mkdtempSync(join(tmpdir(), "courser-doc-types-"));
  try {
    const paths = Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, [join(repository, file)]]));
    const compilerOptions = {
      target: "ES2023",
      lib: ["ES2023", "DOM", "DOM.Iterable"],
      jsx: "react-jsx",
      jsxImportSource: "preact",
      module: "NodeNext",
      moduleResolution: "NodeNext",
      types: ["node"],
      typeRoots: [join(repository, "node_modules/@types")],
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      paths: { ...paths, "*": [join(repository, "node_modules/*")] },
    };
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, include: ["*.d.ts", "*/*.ts", "*/*.tsx"] }),
    );
    mkdirSync(join(folder, "node_modules"));
    for (const name of ["preact", "vitest"])
      symlinkSync(join(repository, "node_modules", name), join(folder, "node_modules", name));
    writeFileSync(join(folder, "css.d.ts"), 'declare module "courser-agent/components.css";');
    for (const [index, block] of blocks.entries()) {
      mkdirSync(join(folder, String(index)));
      writeFileSync(join(folder, String(index), `example.${block.language}`), `${block.text}\nexport {};\n`);
    }
    execFileSync(
      process.execPath,
      [join(repository, "node_modules/typescript/bin/tsc"), "-p", folder, "--pretty", "false"],
      {
        cwd: folder,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    return "";
  } catch (error) {
    const { stdout = "" } = error as { stdout?: string };
    return stdout.replace(/^(\d+)\/example\.tsx?\((\d+),/gm, (_, index: string, line: string) => {
      const block = blocks[Number(index)]!;
      return `${block.file}:${block.line + Number(line)}: (`;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
