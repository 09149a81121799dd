// A repository whose own settings name programs: none is started by the git commands that this program runs.
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { git, splitEntries, tryGit } from "../../src/worktrees/git.ts";
import { createRepository, type Repository } from "./repository.ts";

let repository: Repository;
let call: { cwd: string; env: NodeJS.ProcessEnv };
let started: string;
let program: string;
beforeEach(() => {
  repository = createRepository();
  call = { cwd: repository.path, env: repository.env };
  started = join(dirname(repository.path), "started");
  program = join(dirname(repository.path), "program");
  writeFileSync(program, `#!/bin/sh\ntouch '${started}'\nexit 1\n`);
  chmodSync(program, 0o755);
});
afterEach(() => repository.remove());

const commands = [
  ["status", "--porcelain"],
  ["diff"],
  ["diff", "--stat", "HEAD"],
  ["log", "-p", "-1"],
  ["cat-file", "-p", "HEAD:a.txt"],
  ["fetch", "far"],
  ["push", "far", "HEAD:refs/heads/x"],
  ["ls-remote", "far"],
  ["checkout-index", "-a", "-f"],
];

async function configure(settings: Record<string, string>, cwd = repository.path): Promise<void> {
  for (const [key, value] of Object.entries(settings)) await git(["config", key, value], { ...call, cwd });
}

async function expectNothingStarted(): Promise<void> {
  for (const command of commands) {
    await tryGit(command, call);
    expect(existsSync(started), command.join(" ")).toBe(false);
  }
}

describe("hostile repositories", () => {
  it("git does not run a program of the repository to fetch an object that a partial clone lacks", async () => {
    const object = (await git(["rev-parse", "HEAD:a.txt"], call)).trim();
    rmSync(join(repository.path, ".git/objects", object.slice(0, 2), object.slice(2)));
    repository.file("a.txt", "two\n");
    await configure({
      "core.repositoryFormatVersion": "1",
      "extensions.partialClone": "far",
      "remote.far.promisor": "true",
      "remote.far.url": repository.path,
      "remote.far.uploadpack": program,
      "remote.far.receivepack": program,
    });
    await expectNothingStarted();
  });

  it("git does not run an address that is a command, even where the repository allows it", async () => {
    await configure({ "protocol.ext.allow": "always", "remote.far.url": `ext::${program}` });
    await expectNothingStarted();
  });

  it("every repository setting that names a program is replaced by a harmless one", async () => {
    const names =
      `filter.evil.clean filter.evil.smudge filter.evil.process filter.evil.required merge.evil.driver diff.evil.textconv
      diff.external diff.evil.command credential.helper credential.https://a.b.helper core.gitProxy core.askPass core.sshCommand
      core.alternateRefsCommand gpg.program gpg.ssh.program gpg.ssh.defaultKeyCommand`.split(/\s+/);
    await configure({
      ...Object.fromEntries(names.map((name) => [name, program])),
      "alias.settings": "config --list -z",
    });
    // Of several values the last counts.
    const settings = new Map(
      splitEntries(await git(["settings"], call)).map((line) => line.split("\n") as [string, string]),
    );
    expect(names.map((name) => `${name}=${settings.get(name.toLowerCase())}`)).toEqual([
      "filter.evil.clean=",
      "filter.evil.smudge=",
      "filter.evil.process=",
      "filter.evil.required=false",
      "merge.evil.driver=git merge-file --marker-size=%L %A %O %B",
      "diff.evil.textconv=cat",
      "diff.external=",
      "diff.evil.command=",
      "credential.helper=",
      "credential.https://a.b.helper=",
      "core.gitProxy=",
      "core.askPass=",
      "core.sshCommand=ssh",
      "core.alternateRefsCommand=true",
      "gpg.program=false",
      "gpg.ssh.program=false",
      "gpg.ssh.defaultKeyCommand=false",
    ]);
  });

  it("git started by Courser does not run filters and file watchers of a submodule", async () => {
    const module = join(repository.path, "module");
    await git(["init", "-q", module], call);
    repository.file("module/.gitattributes", "* filter=evil\n");
    repository.file("module/a.txt", "one\n");
    for (const command of [
      ["add", "-A"],
      ["commit", "-qm", "module"],
    ])
      await git(command, { ...call, cwd: module });
    for (const command of [
      ["add", "module"],
      ["commit", "-qm", "with a module"],
    ])
      await git(command, call);
    await configure({ "filter.evil.clean": program, "core.fsmonitor": program }, module);
    repository.file("module/a.txt", "two\n");
    await expectNothingStarted();
  });
});
