#!/bin/bash
set -e
cat > paint.mjs <<'END'
export function paint(text, { colour, loud } = {}) {
  const said = loud ? text.toUpperCase() : text;
  return colour ? `\u001b[${colour}m${said}\u001b[0m` : said;
}
END
git add paint.mjs
git commit --quiet --no-edit
