// The hundred commands of a week in three repositories, as an agent types them: what they are for says who is asked about them.

/** `reading`: changes nothing. `working`: changes the workspace at most. `outside`: changes something outside of it, or reaches out. */
export type WeekKind = "reading" | "working" | "outside";

const web = `
reading  ls -la
reading  git status
reading  git status --short
reading  cat package.json
reading  cat src/a.ts
reading  head -40 src/app.ts
reading  sed -n '1,80p' src/app.ts
reading  rg -n "useState" src
reading  rg x
reading  rg --files src | head -50
reading  grep -rn "TODO" src --include=*.ts | head -20
reading  find . -name "*.test.ts" -not -path "./node_modules/*" | head
reading  wc -l src/*.ts
reading  git log --oneline -10
reading  git diff
reading  git diff HEAD~1 -- src/app.ts
reading  git show HEAD --stat
reading  git branch --show-current
reading  git branch -a
reading  git remote -v
reading  git stash list
reading  git blame -L 10,20 src/app.ts
reading  node --version
reading  npm --version
reading  jq .scripts package.json
reading  cat package.json | grep -A5 '"scripts"'
reading  ls src 2>/dev/null && pwd
reading  cat tsconfig.json README.md
reading  tree -L 2 src
reading  test -f src/app.ts && echo yes
working  npm test
working  npm run build
working  npm run lint -- --fix
working  npx tsc --noEmit
working  node --test src/
working  node scripts/generate.js
working  git add -A
working  git add src/app.ts && git commit -m "fix the button"
working  git commit -am "rename the hook"
working  git checkout -b fix/button
working  mkdir -p src/hooks && touch src/hooks/use-button.ts
working  mv src/a.ts src/b.ts
outside  npm install
outside  npm install --save-dev vitest
outside  git push
outside  git push -u origin fix/button
outside  git pull --rebase
outside  curl -s https://registry.npmjs.org/react/latest
outside  gh pr create --fill`;

const service = `
reading  ls tests
reading  cat pyproject.toml
reading  cat -n app/main.py | sed -n '20,60p'
reading  tail -n 50 app/main.py
reading  grep -n "def " app/main.py
reading  rg "import requests" -l
reading  rg -C3 "class User" app
reading  find app -type f -name "*.py" | wc -l
reading  git log --stat -3
reading  git diff --cached
reading  git diff main...HEAD --name-only
reading  git rev-parse --abbrev-ref HEAD
reading  git show HEAD:app/main.py
reading  git ls-files | head -30
reading  du -sh app
reading  diff app/a.py app/b.py
reading  sort requirements.txt | uniq -c
reading  python3 --version
reading  which python3
reading  awk -F, '{print $2}' data.csv | head
working  pytest
working  pytest tests/test_main.py -q
working  python3 -m pytest -x
working  python3 scripts/seed.py
working  ruff check .
working  ruff format app
working  mypy app
working  git commit -m "test the seed"
working  git stash
working  rm -rf build
outside  pip install -r requirements.txt
outside  git fetch origin
outside  cp app/settings.py ~/settings.bak
outside  docker compose up -d
outside  sudo systemctl restart app
outside  ssh deploy@host.test uptime`;

const tool = `
reading  cat go.mod
reading  ls -R internal | head -40
reading  git log --oneline main..HEAD
reading  grep -rn "context.Background" --include=*.go .
reading  cd internal && ls
reading  stat main.go
working  go test ./...
working  go build ./cmd/tool
working  go vet ./...
working  gofmt -l -w internal
working  make test
working  git commit --amend --no-edit
working  git rebase main
outside  go install ./cmd/tool
outside  cp tool /usr/local/bin/tool
outside  echo 'export PATH=$PATH:~/go/bin' >> ~/.profile
outside  cd .. && rm -rf other`;

export const week: readonly { repository: string; kind: WeekKind; command: string }[] = Object.entries({
  web,
  service,
  tool,
}).flatMap(([repository, lines]) =>
  lines
    .trim()
    .split("\n")
    .map((line) => ({ repository, kind: line.slice(0, 9).trim() as WeekKind, command: line.slice(9) })),
);
