import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const expected = `# The project.
[package]
name = "sample"
version = "1.5.0" # also in [docs]

[dependencies]
parser = "1.4.2" # pinned: 1.5 is broken

[docs]
title = "Sample 1.5.0"
`;
assert.equal(readFileSync("project.toml", "utf8"), expected, "project.toml is not as it should be");
