#!/bin/bash
set -e
# About 13 MB; the same on every machine.
node -e '
  const { openSync, writeSync, closeSync } = require("node:fs");
  const file = openSync("server.log", "w");
  for (let block = 0; block < 250; block++) {
    const lines = Array.from({ length: 1000 }, (_, index) => {
      const number = block * 1000 + index;
      const level = number === 123457 ? "ERROR" : "INFO";
      return `2026-01-01T00:00:00Z ${level} req-${String(number).padStart(7, "0")} handled in ${number % 97} ms`;
    });
    writeSync(file, lines.join("\n") + "\n");
  }
  closeSync(file);
'
