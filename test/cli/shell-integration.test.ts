// Completion scripts in real shells, and the lines in their start-up files: added once, taken away whole.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { orSkipped } from "../support/skipping.ts";

const cli = resolve(import.meta.dirname, "../../dist/courser.cjs");
const home = mkdtempSync(join(tmpdir(), "courser-shell-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

function courser(...words: string[]) {
  const env = { PATH: process.env["PATH"], HOME: home, SHELL: "/bin/bash" };
  return spawnSync(process.execPath, [cli, ...words], { encoding: "utf8", env });
}

const has = (shell: string) => spawnSync(shell, ["-c", "exit 0"]).status === 0;

describe("completion", () => {
  it("completion offers commands, subcommands, flags and values in bash", () => {
    const script = join(home, "completion.bash");
    writeFileSync(script, courser("completion", "bash").stdout);
    const complete = (...words: string[]) => {
      const program = `source "${script}"; COMP_WORDS=(${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${words.length - 1}; _courser; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", program], { encoding: "utf8" }).trim().split("\n");
    };
    expect(complete("courser", "sess")).toEqual(["sessions"]);
    expect(complete("courser", "sessions", "exp")).toEqual(["export"]);
    expect(complete("courser", "-p", "--out")).toEqual(["--output-format", "--output-last-message"]);
    expect(complete("courser", "--output-format", "s")).toEqual(["stream-json"]);
    expect(complete("courser", "login", "--clou")).toEqual([""]);
  });

  it.skipIf(!has("zsh"))(orSkipped("is a script that zsh takes", !has("zsh") && "there is no zsh here"), () => {
    const { stdout } = courser("completion", "zsh");
    const taken = spawnSync(
      "zsh",
      ["-f", "-c", `autoload -Uz compinit; compinit -D; ${stdout}; print -l $_comps[courser]`],
      {
        encoding: "utf8",
        env: { ...process.env, HOME: home },
      },
    );
    expect(taken.stderr).toBe("");
    expect(taken.stdout.trim()).toBe("_courser");
  });

  it.skipIf(!has("fish"))(orSkipped("completes in fish", !has("fish") && "there is no fish here"), () => {
    const script = join(home, "completion.fish");
    writeFileSync(script, courser("completion", "fish").stdout);
    const taken = spawnSync("fish", ["--no-config", "-c", `source ${script}; complete -C 'courser sess'`], {
      encoding: "utf8",
    });
    expect(taken.stderr).toBe("");
    expect(taken.stdout).toMatch(/^sessions\t/m);
  });

  it("the completion command names the shells it supports", () => {
    const { status, stderr } = courser("completion", "tcsh");
    expect([status, stderr]).toEqual([2, expect.stringContaining("completion zsh|bash|fish")]);
  });
});

describe("shell integration", () => {
  it("install-shell-integration adds its lines once, keeps existing content, and removes them without a trace", () => {
    const real = join(home, "dotfiles-bashrc");
    const mine = "alias ll='ls -l'\nexport EDITOR=vi";
    writeFileSync(real, mine);
    symlinkSync(real, join(home, ".bashrc"));
    expect(courser("install-shell-integration").status).toBe(0);
    const once = readFileSync(real, "utf8");
    expect(once.startsWith(mine)).toBe(true);
    expect(readFileSync(`${real}.before-courser`, "utf8")).toBe(mine);
    expect(courser("install-shell-integration", "bash").stdout).toContain("Already installed");
    expect(readFileSync(real, "utf8")).toBe(once);
    expect(spawnSync("bash", ["-n", real]).status).toBe(0);
    expect(courser("uninstall-shell-integration").status).toBe(0);
    expect(readFileSync(real, "utf8").trimEnd()).toBe(mine);
    expect(courser("uninstall-shell-integration").stdout).toContain("Nothing to remove");
  });

  it.each([
    ["zsh", ".zshrc"],
    ["fish", ".config/fish/config.fish"],
  ])("shell integration knows the file of %s", (shell, file) => {
    expect(courser("install-shell-integration", shell).status).toBe(0);
    expect(readFileSync(join(home, file), "utf8")).toContain(`courser completion ${shell}`);
    courser("uninstall-shell-integration", shell);
    expect(existsSync(join(home, file)) && readFileSync(join(home, file), "utf8").trim()).toBe("");
  });

  it("shell integration refuses a shell that it does not know", () => {
    expect(courser("install-shell-integration", "csh").stderr).toContain("not one of zsh, bash, fish");
  });
});
