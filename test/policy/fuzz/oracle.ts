// Real bash as the judge: lines are run in folders of their own, without a network, and the folders say what happened.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeRepository, removeFixture } from "../fixture.ts";
import type { RunFolders } from "./aims.ts";

export interface Oracle {
  /** What every run starts from; also what lines are judged in. */
  template: RunFolders;
  isConfined: boolean;
  /** Runs each line; `seen` is called with its folders before they are removed. */
  run(lines: readonly string[], seen: (index: number, folders: RunFolders) => void): Promise<void>;
  remove(): void;
}

/** For each file of lines/: a copy of the template, the line, at most three seconds. Two at a time. */
const driver = `
ulimit -u 4000 -f 40000 -c 0
cd "$1" || exit 1
work() {
  for file in lines/*[$2]; do
    [ -e "$file" ] || continue
    number=\${file##*/}
    cp -a template "run/$number"
    base=$1/run/$number
    ( cd "$base/ws" && HOME=$base/home PATH=$base/bin:$PATH exec timeout -k 1 3 bash -c "$(<"$1/lines/$number")" ) < /dev/null > /dev/null 2>&1
  done
}
work "$1" 02468 & work "$1" 13579
wait
sleep 0.3
`;

export function createOracle(): Oracle {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "courser-fuzz-")));
  const template = foldersAt(join(root, "template"));
  const repository = makeRepository();
  cpSync(repository.base, template.base, { recursive: true });
  removeFixture(repository);
  for (const folder of [template.bin, join(template.base, "beside"), join(template.workspace, ".vscode")])
    mkdirSync(folder);
  for (const name of ["zap", "tool"]) {
    writeFileSync(join(template.bin, name), `#!/bin/sh\necho "${name} $*" >> "\${0%/*}/../log"\n`);
    chmodSync(join(template.bin, name), 0o755);
  }
  writeFileSync(join(root, "driver.sh"), driver);
  const isConfined = canConfine();
  return {
    template,
    isConfined,
    async run(lines, seen) {
      for (const folder of ["lines", "run"]) mkdirSync(join(root, folder));
      const numbers = lines.map((_, index) => String(index).padStart(6, "0"));
      for (const [index, line] of lines.entries()) {
        const { bin } = foldersAt(join(root, "run", numbers[index]!));
        writeFileSync(join(root, "lines", numbers[index]!), line.replaceAll("{BIN}", bin));
      }
      await runDriver(root, isConfined);
      for (const [index, number] of numbers.entries()) seen(index, foldersAt(join(root, "run", number)));
      for (const folder of ["lines", "run"]) rmSync(join(root, folder), { recursive: true, force: true });
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function foldersAt(base: string): RunFolders {
  return { base, bin: join(base, "bin"), workspace: join(base, "ws"), home: join(base, "home") };
}

const confinement = (root: string) => [
  ...["--ro-bind", "/", "/", "--tmpfs", "/tmp", "--bind", root, root, "--dev", "/dev", "--proc", "/proc"],
  ...["--unshare-all", "--die-with-parent", "--new-session"],
];

function canConfine(): boolean {
  const probe = mkdtempSync(join(tmpdir(), "courser-fuzz-probe-"));
  const { status } = spawnSync("bwrap", [...confinement(probe), "true"], { stdio: "ignore" });
  rmSync(probe, { recursive: true, force: true });
  return status === 0;
}

function runDriver(root: string, isConfined: boolean): Promise<void> {
  const command = ["bash", join(root, "driver.sh"), root];
  const [program, ...args] = isConfined ? ["bwrap", ...confinement(root), ...command] : command;
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LANG: "C.UTF-8", HOME: root };
  const child = spawn(program!, args, { cwd: root, env, stdio: "ignore" });
  return new Promise((settle, reject) => {
    child.on("error", reject);
    child.on("close", () => settle());
  });
}
