#!/bin/bash
set -e
cat > slug.test.mjs <<'END'
import assert from "node:assert/strict";
import test from "node:test";
import { slug } from "./slug.mjs";

test("accents", () => assert.equal(slug("Café"), "cafe"));
test("blanks", () => assert.equal(slug(" two  words "), "two-words"));
END
