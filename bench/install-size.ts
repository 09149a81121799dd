// How much the packed package and its dependencies weigh once installed.
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

export async function installedMegabytes(folder: string): Promise<number> {
  mkdirSync(folder, { recursive: true });
  const npm = (args: string[], cwd: string) =>
    execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const packed = JSON.parse(npm(["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root)) as {
    filename: string;
  }[];
  writeFileSync(join(folder, "package.json"), "{}");
  npm(["install", "--omit=dev", "--no-audit", "--no-fund", `./${packed[0]!.filename}`], folder);
  return bytesIn(join(folder, "node_modules")) / 1_000_000;
}

function bytesIn(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}
