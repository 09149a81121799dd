import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).trim();
assert.equal(git("ls-files", "--unmerged"), "", "paths are unmerged");
assert.equal(git("rev-list", "--parents", "-n", "1", "HEAD").split(" ").length, 3, "HEAD is not a merge");
assert.equal(git("status", "--porcelain"), "", "not everything is committed");
assert.doesNotThrow(() => git("merge-base", "--is-ancestor", "colour", "HEAD"), "colour is not merged");
const { paint } = await import(`${process.cwd()}/paint.mjs`);
assert.equal(paint("a", { colour: 31 }), "\u001b[31ma\u001b[0m", "colours are lost");
assert.equal(paint("a", { loud: true }), "A", "loud is lost");
assert.equal(paint("a", { loud: true, colour: 31 }), "\u001b[31mA\u001b[0m", "both together do not work");
assert.equal(paint("a"), "a", "plain text is changed");
