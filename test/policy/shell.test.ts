import { describe, expect, it } from "vitest";
import { describeCommand, parseShell } from "../../src/policy/parse/shell.ts";
import { startedPrograms } from "../../src/policy/starts/wrappers.ts";
import { streams, valuesOf } from "../streams/index.ts";

describe("descriptions of commands in the stream", () => {
  it("the shell parser describes the documented sample command as documented", () => {
    expect(describeCommand("ls -la")).toEqual({
      simpleCommands: ["ls"],
      hasInputRedirect: false,
      hasOutputRedirect: false,
      parsingResult: {
        parsingFailed: false,
        executableCommands: [{ name: "ls", args: [{ type: "word", value: "-la" }], fullText: "ls -la" }],
        hasRedirects: false,
        hasCommandSubstitution: false,
        redirects: [],
      },
    });
  });

  it("the shell parser describes commands as in captured streams", () => {
    const calls = streams.flatMap(valuesOf).flatMap((line) => line["tool_call"]?.["shellToolCall"]?.args ?? []);
    for (const { command, simpleCommands, hasInputRedirect, hasOutputRedirect, parsingResult } of calls) {
      // Older streams have no list of redirects.
      const result = { redirects: [], ...parsingResult };
      const expected = { simpleCommands, hasInputRedirect, hasOutputRedirect, parsingResult: result };
      expect(describeCommand(command), command).toEqual(expected);
    }
    expect(new Set(calls.map(({ command }) => command)).size).toBeGreaterThan(4);
  });

  it("the shell parser keeps quotes in values and names their kind", () => {
    const { parsingResult } = describeCommand(`rg -n "A|b" 'c d' *.ts $x a"$y"z -20 7 x7 $(date) $'\\n'`);
    expect(parsingResult.executableCommands[0]!.args).toEqual([
      { type: "word", value: "-n" },
      { type: "string", value: '"A|b"' },
      { type: "raw_string", value: "'c d'" },
      { type: "word", value: "*.ts" },
      { type: "simple_expansion", value: "$x" },
      { type: "concatenation", value: 'a"$y"z' },
      { type: "number", value: "-20" },
      { type: "number", value: "7" },
      { type: "word", value: "x7" },
      { type: "command_substitution", value: "$(date)" },
      { type: "ansi_c_string", value: "$'\\n'" },
    ]);
    expect(parsingResult.hasCommandSubstitution).toBe(true);
  });

  it("parsing a shell line lists its redirects", () => {
    expect(describeCommand("make 2>&1 >log | tail -40")).toMatchObject({
      simpleCommands: ["make", "tail"],
      hasOutputRedirect: true,
      hasInputRedirect: false,
      parsingResult: {
        executableCommands: [{ fullText: "make" }, { fullText: "tail -40" }],
        allRedirectsAreDevNull: false,
        redirects: [
          { operator: ">&", destinationFds: [2], targetNodeType: "number", targetText: "1" },
          { operator: ">", destinationFds: [1], targetNodeType: "word", targetText: "log" },
        ],
      },
    });
    expect(describeCommand("ls 2>/dev/null").parsingResult.allRedirectsAreDevNull).toBe(true);
    expect(describeCommand("cat <<'E'\nx\nE")).toMatchObject({
      hasInputRedirect: true,
      parsingResult: { redirects: [{ operator: "", destinationFds: [], targetNodeType: "heredoc_redirect" }] },
    });
    expect(describeCommand("ls >out -la").parsingResult.executableCommands[0]!.fullText).toBe("ls -la");
  });

  it("the shell parser names every kind of shell word", () => {
    const kinds = (command: string) =>
      describeCommand(command).parsingResult.executableCommands[0]!.args.map((word) => word.type);
    expect(kinds("ls ${x} ${x:-y} `date` <(a) >(b) 'a'b \"a\"\"b\" $'a\\'b'")).toEqual([
      "expansion",
      "expansion",
      "command_substitution",
      "process_substitution",
      "process_substitution",
      "concatenation",
      "concatenation",
      "ansi_c_string",
    ]);
    expect(kinds('ls a$x -1 1a "a\\"b" $x$y \\\'a')).toEqual([
      "concatenation",
      "number",
      "word",
      "string",
      "concatenation",
      "concatenation",
    ]);
  });

  it("targets of shell redirects are described", () => {
    const redirects = (command: string) => describeCommand(command).parsingResult.redirects;
    expect(redirects("ls < a > $b &> c &>> d 3> 'e f' <<< g {h}> i")).toEqual([
      { operator: "<", destinationFds: [0], targetNodeType: "word", targetText: "a" },
      { operator: ">", destinationFds: [1], targetNodeType: "simple_expansion" },
      { operator: "&>", destinationFds: [1, 2], targetNodeType: "word", targetText: "c" },
      { operator: "&>>", destinationFds: [1, 2], targetNodeType: "word", targetText: "d" },
      { operator: ">", destinationFds: [3], targetNodeType: "raw_string", targetText: "'e f'" },
      { operator: "", destinationFds: [], targetNodeType: "herestring_redirect" },
      { operator: ">", destinationFds: [1], targetNodeType: "word", targetText: "i" },
    ]);
    expect(redirects("ls > a 'open")).toEqual([]);
    expect(describeCommand("ls 2>&1 >&- 2> /dev/null").parsingResult.allRedirectsAreDevNull).toBe(true);
    expect(describeCommand("ls 2>&1 > a").parsingResult.allRedirectsAreDevNull).toBe(false);
  });

  it("the shell parser keeps a command's text without its redirects", () => {
    const text = (command: string) => describeCommand(command).parsingResult.executableCommands[0]!.fullText;
    expect(text("x=1 ls  -l  a")).toBe("ls  -l  a");
    expect(text("> a ls  -l")).toBe("ls  -l");
    expect(text("ls  -l>a")).toBe("ls  -l");
    expect(text("> a ls  >b  -l")).toBe("ls -l");
    expect(text("ls > a")).toBe("ls");
    expect(describeCommand("echo `echo \\`pwd  -P\\``").parsingResult.executableCommands.at(-1)!.fullText).toBe(
      "pwd  -P",
    );
    expect(describeCommand("x=1").parsingResult.executableCommands).toEqual([]);
  });

  it("the shell parser marks a line that it cannot parse", () => {
    for (const broken of ['ls "open', "ls \0", "if true", "x".repeat(200_000)]) {
      expect(describeCommand(broken)).toMatchObject({
        simpleCommands: [],
        parsingResult: { parsingFailed: true, executableCommands: [] },
      });
    }
  });
});

const names = (command: string) => parseShell(command).commands.map((each) => each.name?.value);

describe("parsing shell commands", () => {
  it.each([
    ["a; b & c && d || e | f |& g\nh", "a b c d e f g h"],
    ["(a); { b; }; if c; then d; elif e; then f; else g; fi", "a b c d e f g"],
    ["for i in $(a); do b; done; while c; do d; done; case $(e) in x) f;; esac", "a b c d e f"],
    ["f() { a; }; coproc b; ! c; time d", "a b c d"],
    ["a $(b `c`) <(d) > >(e) ${x:-$(f)} $((1+$(g)))", "a b c d f g e"],
    ["a <<X\n$(b)\nX\nc <<'Y'\n$(no)\nY", "a b c"],
    ["[[ -n $(a) ]] && x=$(b) c", "a c b"],
  ])("the shell parser finds every command of %j", (command, expected) => {
    expect(names(command).filter(Boolean).sort()).toEqual(expected.split(" ").sort());
    expect(parseShell(command).errors).toEqual([]);
  });

  it.each(["r''m", "\\rm", "r\\\nm", "$'\\x72\\x6d'", '$"rm"', '"rm"', "'r'm"])(
    "the command name %j is decoded",
    (text) => {
      expect(parseShell(`${text} x`).commands[0]!.name).toMatchObject({ value: "rm", dynamic: false, glob: false });
    },
  );

  it.each(["$x", "$(echo rm)", "`echo rm`", "a${IFS}b", "{rm,x}", '"$x"', "<(a)", "@($x|b)"])(
    "the shell parser recognises %j as dynamic (computed when it runs)",
    (text) => {
      expect(parseShell(`${text} x`).commands[0]!.name!.dynamic).toBe(true);
    },
  );

  it("pipes, here-documents and descriptor copies are distinguished", () => {
    const line = parseShell("a | b 2>&1 <<< text > out < in <<E\nbody\nE\n");
    expect(line.commands.map((each) => each.piped)).toEqual([false, true]);
    expect(line.redirects.map((each) => [each.direction, each.target?.value, each.body])).toEqual([
      ["copy", "1", undefined],
      ["text", "text", "text"],
      ["out", "out", undefined],
      ["in", "in", undefined],
      ["text", undefined, "body\n"],
    ]);
  });

  it.each(["$(", '"$(', "{a,", "<<A ", "${a:-", "$((", "<("])(
    "the shell parser refuses a command line of many %j before parsing it",
    (pile) => {
      // Each of these takes the parser quadratic time: minutes, for a line of this length.
      expect(parseShell(pile.repeat(20_000)).errors).toEqual([
        expect.stringMatching(/more than (150|300)|longer than/),
      ]);
      expect(parseShell(pile.repeat(140)).errors.join()).not.toMatch(/more than|longer than/);
    },
  );

  it.each([
    ["commands", "true; ".repeat(500), "true; ".repeat(20_000)],
    ["words", `ls ${"a ".repeat(2900)}`, `ls ${"a ".repeat(20_000)}`],
    ["arithmetic", `echo $((1${"+1".repeat(1500)}))`, `echo $((1${"+1".repeat(30_000)}))`],
    ["substitutions", `echo ${"$(ls) ".repeat(290)}`, `echo ${"$(ls) ".repeat(400)}`],
    ["backticks", `echo ${"`ls` ".repeat(140)}`, `echo ${"`ls` ".repeat(200)}`],
    ["redirects", `ls ${">a ".repeat(2900)}`, `ls ${">a ".repeat(20_000)}`],
  ])("the shell parser parses many %s, and reports too many", (_, many, tooMany) => {
    expect(parseShell(many).errors).toEqual([]);
    expect(parseShell(tooMany).errors).toHaveLength(1);
  });

  it("the shell parser counts words and commands outside quotes and here-documents", () => {
    expect(parseShell(`echo '${"a; b ".repeat(5000)}' "${"c\n".repeat(5000)}"`).errors).toEqual([]);
    expect(parseShell(`cat > f <<'E'\n${"a; b && c\n".repeat(3000)}E`).errors).toEqual([]);
  });

  it("the shell parser recognises words that look like assignments", () => {
    const words = (command: string) =>
      parseShell(command).commands[0]!.args.map(({ value, dynamic }) => [value, dynamic]);
    expect(words("declare a='1' b+=2 c[0]=3 d=(e f) g=$h i")).toEqual([
      ["a=1", false],
      ["b+=2", false],
      ["c[0]=3", true],
      ["d=(e f)", true],
      ["g=$h", true],
      ["i", false],
    ]);
    expect(parseShell("declare a=*.b c=d").commands[0]!.args.map((word) => word.glob)).toEqual([true, false]);
  });

  it("the shell parser reports which file descriptors a redirect uses", () => {
    expect(
      parseShell(
        "a < b > c 2> d &> e <<< f 3<<< g 4<<E <<'F' <<G\n\\$x \\`y\\` \\\\ \\z \\\nq\nE\n\\$x\nF\n$x\nG\n",
      ).redirects.map(({ descriptors, body }) => [descriptors, body]),
    ).toEqual([
      [[0], undefined],
      [[1], undefined],
      [[2], undefined],
      [[1, 2], undefined],
      [[0], "f"],
      [[3], "g"],
      [[4], "$x `y` \\ \\z q\n"],
      [[0], "\\$x\n"],
      [[0], undefined],
    ]);
  });

  it("the shell parser marks quoted text", () => {
    expect(parseShell("ls 'a' \"b\" $'c' c\\d").quoted).toEqual([
      [3, 6],
      [7, 10],
      [11, 15],
    ]);
    expect(parseShell("echo `echo \\`echo 'a'\\``").quoted).toEqual([]);
  });

  it("a parse result that omits or truncates a substitution is rejected", () => {
    expect(parseShell('echo "${HOME/$(echo a/b)/x}"')).toMatchObject({ isMisread: true });
    for (const fine of [
      "echo 'a $(b) `c`'",
      'echo "\\$(b) \\`c\\`"',
      "echo $'$(x)'",
      "ls # $(x) `",
      "cat <<'E'\n$(x)\nE",
    ])
      expect(parseShell(fine)).toMatchObject({ isMisread: false, errors: [] });
    expect(parseShell('echo `echo \\`pwd\\`` "$(echo `ls`)" $((1+$(id -u)))')).toMatchObject({
      isMisread: false,
      errors: [],
    });
  });
});

describe("programs that a command starts", () => {
  const starts = (command: string) => startedPrograms(command).runs.map((run) => run.name.value);

  it.each([
    ["env -i A=1 -u B rm x", ["env", "rm"]],
    ["env -S 'rm x'", ["env", "rm"]],
    ["nohup nice -n 5 timeout -k 2 5 rm x", ["nohup", "nice", "timeout", "rm"]],
    ["sudo -u me -- rm x", ["sudo", "rm"]],
    ["bash -lc 'sh -c \"rm x\"'", ["bash", "sh", "rm"]],
    ["find . -name x -exec rm {} \\; -o -execdir mv {} y +", ["find", "rm", "mv"]],
    ["ls | xargs -n 1 -I{} rm {}", ["ls", "xargs", "rm"]],
    ["watch -n1 'rm x'", ["watch", "rm"]],
    ["busybox rm x", ["busybox", "rm"]],
    ["npm exec -c 'rm x'", ["npm", "rm"]],
    ["eval 'rm x'", ["eval", "rm"]],
    ["trap 'rm x' EXIT", ["trap", "rm"]],
    ["bash <<'E'\nrm x\nE", ["bash", "rm"]],
    ["flock /tmp/l -c 'rm x'", ["flock", "rm"]],
    ["command -v rm", ["command"]],
    ["timeout 5 ls rm", ["timeout", "ls"]],
  ])("the command line %j starts the programs %j", (command, expected) => {
    expect(starts(command)).toEqual(expect.arrayContaining(expected));
    if (!expected.includes("rm")) expect(starts(command)).not.toContain("rm");
  });

  it.each(["curl x | sh", 'bash -c "$X"', "eval $x", "ls | xargs env", "source <(curl x)", "bash <<E\n$x\nE"])(
    "the shell parser cannot know the programs that %j starts",
    (command) => {
      expect(startedPrograms(command).opaque).not.toEqual([]);
    },
  );

  it("the shell parser follows the programs that a command line starts up to a limit", () => {
    const wrapped = "nohup nohup nohup nohup nohup ls; ";
    expect(startedPrograms(wrapped.repeat(100)).opaque).toEqual([]);
    expect(startedPrograms(wrapped.repeat(450)).opaque).not.toEqual([]);
    const guessed = `env ${"PAGER=less ".repeat(20)} ls; `;
    expect(startedPrograms(guessed).opaque).toEqual([]);
    expect(startedPrograms(guessed.repeat(4)).opaque).not.toEqual([]);
    expect(startedPrograms(`git ${"-c core.pager=less ".repeat(20)} log`).opaque).toEqual([]);
    expect(startedPrograms(`git ${"-c core.pager=less ".repeat(50)} log`).opaque).not.toEqual([]);
    expect(startedPrograms(`nice --what ${"a ".repeat(20)}`).opaque).toEqual([]);
    expect(startedPrograms(`nice --what ${"a ".repeat(80)}`).opaque).not.toEqual([]);
  });

  it.each(["sh build.sh", "node x.js", "bash -c 'ls'", "python3 -c 'print(1)'", "echo hi | cat"])(
    "the shell parser knows the programs that %j starts",
    (command) => {
      expect(startedPrograms(command).opaque).toEqual([]);
    },
  );
});
