// What the disk refuses. The code runs in a process of its own, with mounts of its own or as a user without rights.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, linkSync, readdirSync, statSync } from "node:fs";
import { buildSync } from "esbuild";
import { describe, expect, test } from "vitest";
import { orSkipped } from "../../support/skipping.ts";
import { type Workspace, workspace } from "./workspace.ts";

const isRoot = process.getuid?.() === 0;
const notRoot = !isRoot && "only root may";
const noMount = notRoot || (spawnSync("unshare", ["-m", "true"]).status !== 0 && "nothing can be mounted here");
const noDrop = notRoot || (spawnSync("setpriv", ["--version"]).status !== 0 && "no setpriv here");

/** Runs `script`, which knows `changeFile`, `place` and `tell`, behind the given command. */
function inProcess(space: Workspace, command: string, script: string): string {
  const entry = new URL("../../../src/agent/files.ts", import.meta.url).pathname;
  const contents = `
    import { changeFile } from ${JSON.stringify(entry)};
    import { readFileSync, readdirSync } from "node:fs";
    const place = { workspace: ${JSON.stringify(space.root)} };
    const tell = (error) => console.log(error.name, error.message);
    process.chdir(place.workspace);
    (async () => { ${script} })();`;
  buildSync({
    stdin: { contents, resolveDir: new URL("../../..", import.meta.url).pathname },
    bundle: true,
    platform: "node",
    format: "cjs",
    outfile: space.path("program.cjs"),
    logLevel: "error",
  });
  chmodSync(space.root, 0o755);
  const child = spawnSync("sh", ["-c", `${command} ${process.execPath} program.cjs`], {
    cwd: space.root,
    encoding: "utf8",
  });
  return child.stdout + child.stderr;
}

describe("full and failing disks", () => {
  test.skipIf(noMount)(orSkipped("no space: an error, the old content, no rest", noMount), () => {
    const space = workspace({ "mnt/hidden": "" });
    const output = inProcess(
      space,
      'mount() { unshare -m sh -c \'mount -t tmpfs -o size=64k tmpfs mnt && echo old > mnt/a && exec "$@"\' - "$@"; }; mount',
      `const path = place.workspace + "/mnt/a";
       await changeFile(path, place, () => Buffer.alloc(200_000)).catch(tell);
       await changeFile(place.workspace + "/mnt/b", place, () => Buffer.alloc(200_000)).catch(tell);
       console.log(readFileSync(path, "utf8").trim(), readdirSync("mnt").join());`,
    );
    expect(output.match(/ToolFailure .*no space left on the disk/g)).toHaveLength(2);
    expect(output).toContain("old a\n");
  });

  test.skipIf(noMount)(orSkipped("a read-only file system", noMount), () => {
    const space = workspace({ "mnt/a": "old" });
    const output = inProcess(
      space,
      'mount() { unshare -m sh -c \'mount --bind mnt mnt && mount -o remount,ro,bind mnt && exec "$@"\' - "$@"; }; mount',
      `await changeFile(place.workspace + "/mnt/a", place, () => Buffer.from("new")).catch(tell);`,
    );
    expect(output).toContain("ToolFailure");
    expect(output).toContain("the file system is read-only");
  });

  test.skipIf(noMount)(orSkipped("a file that is a mount point is written in place", noMount), () => {
    const space = workspace({ a: "old", b: "other and longer" });
    const output = inProcess(
      space,
      'mount() { unshare -m sh -c \'mount --bind b a && exec "$@"\' - "$@"; }; mount',
      `await changeFile(place.workspace + "/a", place, () => Buffer.from("new")).catch(tell);
       console.log("now", readFileSync("b", "utf8"), readdirSync(".").join());`,
    );
    expect(output).toBe("now new a,b,program.cjs\n");
  });
});

describe("file permissions", () => {
  const nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";

  test.skipIf(noDrop)(
    orSkipped(
      "Write changes a writable file in a folder without write permission in place, and refuses a read-only file",
      noDrop,
    ),
    () => {
      const space = workspace({ "d/open": "old content", "d/closed": "old", "d/twin": "old" });
      for (const name of ["open", "twin"]) chmodSync(space.path(`d/${name}`), 0o666);
      linkSync(space.path("d/twin"), space.path("d/twin2"));
      chmodSync(space.path("d"), 0o755);
      const before = statSync(space.path("d/open")).ino;
      const output = inProcess(
        space,
        nobody,
        `for (const name of ["open", "closed", "twin", "absent"])
         await changeFile(place.workspace + "/d/" + name, place, () => Buffer.from("new")).catch(tell);`,
      );
      expect(space.text("d/open")).toBe("new");
      expect(statSync(space.path("d/open")).ino).toBe(before);
      expect([space.text("d/closed"), space.text("d/twin")]).toEqual(["old", "old"]);
      expect(output.match(/Permission denied/g)).toHaveLength(2);
      expect(output).toContain("other hard links");
      expect(readdirSync(space.path("d")).sort()).toEqual(["closed", "open", "twin", "twin2"]);
    },
  );

  test.skipIf(notRoot)(orSkipped("the owner is kept", notRoot), async () => {
    const space = workspace({ a: "old" });
    chownSync(space.path("a"), 1234, 2345);
    const output = inProcess(
      space,
      "",
      `await changeFile(place.workspace + "/a", place, () => Buffer.from("new")).catch(tell);`,
    );
    expect(output).toBe("");
    expect(statSync(space.path("a"))).toMatchObject({ uid: 1234, gid: 2345 });
    expect(space.text("a")).toBe("new");
  });
});
