#!/bin/bash
set -e
git init --quiet --initial-branch=main
git config user.name Eval
git config user.email eval@example.com
export GIT_AUTHOR_DATE="2026-01-01T00:00:00Z" GIT_COMMITTER_DATE="2026-01-01T00:00:00Z"
git add . && git commit --quiet -m "paint"
git checkout --quiet -b colour
cat > paint.mjs <<'END'
export function paint(text, { colour } = {}) {
  return colour ? `\u001b[${colour}m${text}\u001b[0m` : text;
}
END
git commit --quiet -am "colours"
git checkout --quiet main
cat > paint.mjs <<'END'
export function paint(text, { loud } = {}) {
  return loud ? text.toUpperCase() : text;
}
END
git commit --quiet -am "loud"
git merge --quiet colour > /dev/null || true
git ls-files --unmerged | grep --quiet paint.mjs
