// Command lines that may run without a snapshot, and those that may not.
import { describe, expect, it } from "vitest";
import { onlyReads } from "../../src/policy/only-reads.ts";

describe("commands that only read", () => {
  it.each([
    "cat a.txt",
    "ls -la src && git status --short | head -5",
    "grep -rn 'rm -rf' . 2>/dev/null",
    "find . -name '*.ts' | xargs grep -l foo",
    "git -C sub log --oneline -3; git diff HEAD~1 -- src",
    "sed -n 1,20p a.txt",
    "awk '{print $1}' a.txt | sort | uniq -c",
    "cd src && pwd && wc -l *.ts",
    "timeout 5 cat a.txt > /dev/null 2>&1",
    "LC_ALL=C sort a.txt",
    "echo $HOME; [ -f a.txt ] && echo yes",
    "cat <<'END'\nrm -rf .\nEND",
  ])("the policy recognises that the command line only reads: %s", (command) => expect(onlyReads(command)).toBe(true));

  it.each([
    "echo x > a.txt",
    "cat a.txt >> b.txt",
    "cat a <> b",
    "cat $(rm a.txt)",
    "ls; make",
    "sort -o a.txt a.txt",
    "sort $flags a.txt",
    "sort *",
    "uniq a.txt b*",
    "sed -i s/a/b/ a.txt",
    "sed 'w out' a.txt",
    "awk '{print > \"out\"}' a.txt",
    "find . -name x -delete",
    "find . | xargs rm",
    "find . | xargs sed -n p",
    "git checkout .",
    "git -c core.pager=./x log",
    "git diff --output=x",
    "./cat a.txt",
    "PATH=. cat a.txt",
    "x=1",
    "cat() { rm a; }; cat",
    "eval 'cat a'",
    "bash script.sh",
    "echo $((x))",
    "cat ${a[x]}",
    "[ -v 'a[$(touch b)]' ]",
    "cat 'unclosed",
    "sudo cat a.txt",
    "tee a.txt",
    "node -e 0",
  ])("the policy recognises that the command line does not only read: %s", (command) =>
    expect(onlyReads(command)).toBe(false),
  );
});

describe("commands that print a version", () => {
  it.each(["node --version", "make -v", "python3 -V", "go version", "docker version", "kubectl version"])(
    "the policy recognises that the command %s only reads",
    (command) => expect(onlyReads(command)).toBe(true),
  );
  it.each([
    "make version",
    "bash version",
    "node version",
    "python3 version",
    "ruby version",
    "yarn version",
    "npm version",
  ])("the command %s may run a target, file or script of that name", (command) =>
    expect(onlyReads(command)).toBe(false),
  );
});
