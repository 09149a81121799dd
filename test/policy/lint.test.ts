import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LintEntry, type LintProblem, lint } from "../../src/policy/lint/index.ts";
import { type Fixture, makeFixture, removeFixture, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
  mkdirSync(join(fixture.workspace, "docs"));
});
afterAll(() => removeFixture(fixture));

type Lists = { allow?: string[]; deny?: string[]; scope?: "user" | "project" };

function problems(lists: Lists, installed: readonly string[] = []): LintProblem[] {
  const entries = (["deny", "allow"] as const).flatMap((verdict) =>
    (lists[verdict] ?? []).map(
      (text, index): LintEntry => ({ text, verdict, scope: lists.scope ?? "user", source: "f.json", line: index + 1 }),
    ),
  );
  return lint(entries, { ...situationOf(fixture), hasProgram: (name) => installed.includes(name) });
}

const brief = (found: LintProblem[]) => found.map(({ kind, rule }) => `${kind} ${rule}`);

describe("permissions lint", () => {
  it("permissions lint reports nothing for ordinary rules", () => {
    const allow = [
      "Shell(ls)",
      "Shell(cd)",
      "Shell(npm install)",
      "Shell(npm run)",
      "Shell(npm:test*)",
      "Shell(git)",
      "Shell(find:*-exec*)",
      "Shell(find)",
      "Shell(my-tool)",
      "Shell(gh)",
      "Read(/usr/share/doc/**)",
      "Read(~/notes/*.md)",
      "Write(src/**)",
      "Write(docs/)",
      "Write(.vscode/tasks.json)",
      "Write(.cursor/rules/**)",
      "WebFetch(docs.example.com)",
      "WebFetch(*.example.org)",
      "WebFetch(localhost:3000)",
      "WebFetch(example.net:1)",
      "WebFetch(example.net:65535)",
      "WebFetch(2606:4700::1111)",
      "WebFetch(2606:4700:1::0)",
      "Shell(pytho?)",
      "Shell(grep:*|*)",
      'Shell(jq:*"name"*)',
      "Shell(curl https://example.com/?a=1&b=2)",
      "Mcp(linear:*)",
    ];
    const deny = [
      "Shell(rm)",
      "Shell(rm -rf)",
      "Shell(/sbin/reboot)",
      "Read(.env*)",
      "Write(**/*.key)",
      "Shell(git push:-f*)",
    ];
    // `rm -rf` is covered by `rm`: that alone is worth a word.
    expect(brief(problems({ allow, deny }))).toEqual(["dead Shell(rm -rf)"]);
  });

  it.each([
    ["Bash(ls)", "misspelt", "Write Shell(ls)."],
    ["Shel(ls)", "misspelt", "Write Shell(ls)."],
    ["Shell(ls", "misspelt", "Write Shell(ls)."],
    ["git status", "misspelt", "Write Shell(git status)."],
    ["Zap(ls)", "misspelt", "Fix it"],
    ["Shell(gti status)", "misspelt", "Write Shell(git status)."],
    ["Shell(pyhton3)", "misspelt", "Write Shell(python3)."],
    ["Shell(Git)", "misspelt", "Write Shell(git)."],
    ["Shell(/usr/bin/git)", "impossible", "Write Shell(git)."],
    ["Shell(./build.sh)", "impossible", "Write Shell(build.sh)."],
    ["Shell(npm test && npm run build)", "impossible", "Write a rule for each"],
    ["Shell(cat x | grep y)", "impossible", "Write a rule for each"],
    ["Shell(make > log)", "impossible", "Write a rule for each"],
    ["Shell(npm start &)", "impossible", "Write a rule for each"],
    ["Shell(npm start & npm test)", "impossible", "Write a rule for each"],
    ["Shell(& npm test)", "impossible", "Write a rule for each"],
    ["Shell(NODE_ENV=test npm test)", "impossible", "without NODE_ENV=test"],
    ['Shell(git commit -m "x")', "impossible", "Write Shell(git commit -m x)."],
    ["Write($HOME/x)", "impossible", "~/"],
    ["Write(src\\*.ts)", "impossible", "Write Write(src/*.ts)."],
    ["Read(https://example.com)", "impossible", "WebFetch"],
    ["Write(docs)", "impossible", "Write Write(docs/**)."],
    ["WebFetch(exam*.com)", "impossible", "*.example.com"],
    ["WebFetch(example.com:0)", "impossible", "65535"],
    ["WebFetch(example.com:65536)", "impossible", "65535"],
    ["WebFetch([2606:4700::1111]:0)", "impossible", "65535"],
    ["Read(src/**)", "dead", "Remove it"],
    ["Read(README.md)", "dead", "Remove it"],
    ["Read(/proc/**)", "dead", "Remove it"],
    ["Read(/dev/null)", "dead", "Remove it"],
    ["Shell(eval)", "dead", "Remove it"],
    ["Shell(hash)", "dead", "Remove it"],
    ["Shell(export:*)", "dead", "Remove it"],
    ["Shell(nohup)", "dead", "Remove it"],
    ["Shell(timeout)", "dead", "Remove it"],
    ["Write(.cursor/**)", "dead", "names one file"],
    ["Write(.vscode/*.json)", "dead", "names one file"],
    ["Write(~/.bashrc)", "dead", "names one file"],
    ["Write(~/.cursor/cli-config.json)", "dead", "Remove it"],
    ["WebFetch(10.0.0.1)", "dead", "host and port"],
    ["Shell(**)", "wide", "Name the intended programs"],
    ["Shell(*)", "wide", "Name the intended programs"],
    ["Shell(*:*)", "wide", "Name the intended programs"],
    ["Shell(bash)", "wide", "Name the programs that the scripts run"],
    ["Shell(sh:*)", "wide", "Name the programs that the scripts run"],
    ["Shell(sudo:*)", "wide", "Remove it"],
    ["Shell(doas apt)", "wide", "Remove it"],
    ["Shell(*sh)", "wide", "Name the intended programs"],
    ["Shell(s*)", "wide", "Name the intended programs"],
    ["Read(/**)", "wide", "Name the intended directories"],
    ["Write(~/**)", "wide", "Name the intended directories"],
    ["WebFetch(*)", "wide", "Name the intended hosts"],
    ["Mcp(*:*)", "wide", "Name the servers"],
    ["Mcp(*)", "wide", "Name the servers"],
  ])("permissions lint of the allow rule %s: %s", (rule, kind, advice) => {
    expect(problems({ allow: ["Shell(true)", rule] }).filter((problem) => problem.line === 2)).toEqual([
      {
        kind,
        rule,
        verdict: "allow",
        file: "f.json",
        line: 2,
        message: expect.any(String),
        advice: expect.stringContaining(advice),
      },
    ]);
  });

  it.each([
    ["Shell(curl | sh)", "impossible"],
    ["Shell(rmm)", undefined],
    ["Shell(gti push)", "misspelt"],
    ["Read($HOME/.ssh)", "impossible"],
    ["Bash(rm)", "misspelt"],
    ["Shell(**)", undefined],
    ["Shell(bash)", undefined],
    ["Read(src)", undefined],
    ["Shell(/bin/rm)", undefined],
    ["Shell(/git)", undefined],
    ["WebFetch(*evil*)", undefined],
  ])("permissions lint of the deny rule %s: %s", (rule, kind) => {
    const known = rule === "Shell(rmm)" ? ["rmm"] : [];
    expect(problems({ deny: [rule] }, known).map((problem) => problem.kind)).toEqual(kind ? [kind] : []);
  });

  it("permissions lint does not report names of installed programs as misspelt", () => {
    expect(brief(problems({ allow: ["Shell(nod)"] }))).toEqual(["misspelt Shell(nod)"]);
    expect(problems({ allow: ["Shell(nod)"] }, ["nod"])).toEqual([]);
    expect(problems({ allow: ["Shell(eslint_d)", "Shell(gitleaks)", "Shell(makefile2)"] })).toEqual([]);
    // Without that knowledge only a slip of the fingers counts.
    const entry = (text: string): LintEntry => ({ text, verdict: "allow", scope: "user", source: "f" });
    expect(brief(lint([entry("Shell(nod)"), entry("Shell(ndoe)")], situationOf(fixture)))).toEqual([
      "misspelt Shell(ndoe)",
    ]);
  });

  it.each([
    ["Shell(git push)", "Shell(git)"],
    ["Shell(git push origin)", "Shell(git push)"],
    ["Shell(git push)", "Shell(git:push*)"],
    ["Shell(git:push*)", "Shell(git)"],
    ["Shell(rm)", "Shell(/bin/rm)"],
    ["Shell(ls)", "Shell(**)"],
    ["Write(src/**)", "Write(src)"],
    ["Write(src/**)", "Write(**)"],
    ["Write(src/a.key)", "Write(**/*.KEY)"],
    ["Read(/srv/**)", "Read(/**)"],
    ["WebFetch(docs.example.com)", "WebFetch(*.example.com)"],
    ["WebFetch(docs.example.com)", "WebFetch(*)"],
    ["Mcp(Linear:get_issue)", "Mcp(linear:*)"],
    ["Mcp(linear:get_*)", "Mcp(linear:*)"],
    ["Shell(*)", "Shell(**)"],
    ["Shell(git:*-f*)", "Shell(git)"],
    ["Shell(git:push -f*)", "Shell(git:push*)"],
    ["Write(src/{a,b}.ts)", "Write(src/*.ts)"],
    ["Write(src/?.ts)", "Write(src/*.ts)"],
    ["WebFetch(Docs.Example.com)", "WebFetch(docs.example.com)"],
    ["WebFetch(example.com)", "WebFetch(*.example.com)"],
    ["WebFetch(*.docs.example.com)", "WebFetch(*.example.com)"],
    ["WebFetch(example.com:8080)", "WebFetch(example.com)"],
    ["WebFetch(example.com:8080)", "WebFetch(*:8080)"],
    ["WebFetch(*:8080)", "WebFetch(*)"],
    ["WebFetch(2606:4700::1111)", "WebFetch([2606:4700::1111])"],
    ["WebFetch(my-evil.test)", "WebFetch(*evil*)"],
  ])("the allow rule %s is shadowed by the deny rule %s", (allow, deny) => {
    expect(brief(problems({ allow: [allow], deny: [deny] }))).toEqual([`shadowed ${allow}`]);
  });

  it.each([
    ["Shell(git)", "Shell(git push)"],
    ["Shell(git push)", "Shell(git:push)"],
    ["Shell(rm)", "Shell(rm -rf)"],
    ["Write(src/**)", "Write(src/*.key)"],
    ["Write(**)", "Write(src/**)"],
    ["WebFetch(example.com)", "WebFetch(*.other.com)"],
    ["Mcp(linear:*)", "Mcp(linear:delete)"],
    ["Mcp(linear:*)", "Mcp(linear:?)"],
    ["Mcp(linear:*)", "Mcp(linear:??)"],
    ["Read(/srv/**)", "Write(/**)"],
    ["Shell(git:push*)", "Shell(git:pull*)"],
    ["Shell(git:push*)", "Shell(gh:push*)"],
    ["Shell(git:push *)", "Shell(git:push ?)"],
    ["Shell(git:push *)", "Shell(git:push ??)"],
    ["Shell(my*:push*)", "Shell(my?)"],
    ["Shell(git p*)", "Shell(git p?)"],
    ["Write(src/*.ts)", "Write(src/?.ts)"],
    ["Write(src/**)", "Write(src/??)"],
    ["Write(src/*)", "Write(src/?*)"],
    ["Write(src/{a,b}.ts)", "Write(src/?????.ts)"],
    ["WebFetch(example.com)", "WebFetch(example.com:443)"],
    ["WebFetch(example.com)", "WebFetch(example.com:80)"],
    ["WebFetch(*.example.com)", "WebFetch(docs.example.com)"],
  ])("the allow rule %s is not shadowed by the deny rule %s", (allow, deny) => {
    expect(problems({ allow: [allow], deny: [deny] })).toEqual([]);
  });

  it("lint finds duplicates and rules covered by wider ones", () => {
    expect(brief(problems({ allow: ["Shell(ls)", "Shell(git)", "Shell(ls)", "Shell(git status)"] }))).toEqual([
      "duplicate Shell(ls)",
      "dead Shell(git status)",
    ]);
    expect(brief(problems({ allow: ["Write(src/a/**)", "Write(src/**)"] }))).toEqual(["dead Write(src/a/**)"]);
    // Options that run programs are named by no plain rule.
    expect(problems({ allow: ["Shell(git)", "Shell(git:*--output*)", "Shell(git -c)"] })).toEqual([]);
    expect(problems({ allow: ["Write(src/*)", "Write(src/**/x)"] })).toEqual([]);
  });

  it("lint knows that one wildcard is narrower than another", () => {
    expect(brief(problems({ allow: ["Write(src/?.ts)", "Write(src/*.ts)"] }))).toEqual(["dead Write(src/?.ts)"]);
    expect(brief(problems({ allow: ["Write(src/*)", "Write(src/**)"] }))).toEqual(["dead Write(src/*)"]);
    expect(brief(problems({ allow: ["Write(src/**/x)", "Write(src/a/**/x)"] }))).toEqual(["dead Write(src/a/**/x)"]);
    for (const rule of ["src/*/**", "{src,src/*}"])
      expect(brief(problems({ allow: [`Write(${rule})`, "Write(src/**)"] }))).toEqual([`dead Write(${rule})`]);
    for (const rule of ["src/*/**/x", "{src/x,src/*/x}"])
      expect(brief(problems({ allow: [`Write(${rule})`, "Write(src/**/x)"] }))).toEqual([`dead Write(${rule})`]);
    expect(brief(problems({ deny: ["WebFetch(*)", "WebFetch(**)"] }))).toEqual(["dead WebFetch(**)"]);
    expect(brief(problems({ allow: ["WebFetch(*)"], deny: ["WebFetch(*.a)", "WebFetch(a%b.a)"] }))).toEqual([
      "wide WebFetch(*)",
    ]);
    expect(brief(problems({ allow: ["Shell(git)", "Shell(git:push*)"] }))).toEqual(["dead Shell(git:push*)"]);
    // Of two that cover each other, the later one.
    expect(brief(problems({ allow: ["Write(src/a)", "Write(./src/a)"] }))).toEqual(["dead Write(./src/a)"]);
    expect(brief(problems({ allow: ["Shell(**)"], deny: ["Shell(rm)"] }))).toEqual(["wide Shell(**)"]);
  });

  it("lint does not call a rule superfluous that opens what another leaves closed", () => {
    const wide = "WebFetch(*)";
    for (const rule of ["WebFetch(localhost:3000)", "WebFetch(docs.test:8443)", "WebFetch([::1]:80)"])
      expect([rule, brief(problems({ allow: [wide, rule] }))]).toEqual([rule, [`wide ${wide}`]]);
    expect(problems({ allow: ["WebFetch(*.test:8443)", "WebFetch(docs.test)"] })).toEqual([]);
    expect(problems({ allow: ["Shell(git)", "Shell(git commit -m)"] })).toEqual([]);
    // Allow rules are compared to the letter.
    expect(problems({ allow: ["Shell(mytool)", "Shell(MyTool build)"] })).toEqual([]);
    for (const rule of ["WebFetch(docs.test:443)", "WebFetch(docs.test)", "WebFetch(*.test)"])
      expect([rule, brief(problems({ allow: [wide, rule] }))]).toEqual([rule, [`wide ${wide}`, `dead ${rule}`]]);
  });

  it("lint lists problems in the order of the file", () => {
    expect(brief(problems({ allow: ["Shell(bash)", "Zap(x)", "Shell(ls)", "Shell(ls)", "Shell(eval)"] }))).toEqual([
      "wide Shell(bash)",
      "misspelt Zap(x)",
      "duplicate Shell(ls)",
      "dead Shell(eval)",
    ]);
  });

  it("lint accepts a project's copy of a user's rule", () => {
    const entry = { text: "Shell(ls)", verdict: "allow", source: "a" } as const;
    const place = situationOf(fixture);
    expect(
      lint(
        [
          { ...entry, scope: "user" },
          { ...entry, scope: "project" },
        ],
        place,
      ),
    ).toEqual([]);
    const thrice = (["user", "project", "project"] as const).map((scope) => ({ ...entry, scope }));
    expect(brief(lint(thrice, place))).toEqual(["duplicate Shell(ls)"]);
  });

  it("lint knows that a project lifts no protection", () => {
    expect(brief(problems({ allow: ["Write(.vscode/tasks.json)"], scope: "project" }))).toEqual([
      "dead Write(.vscode/tasks.json)",
    ]);
  });
});

/** What fingers make of the names of programs, and the name that was meant. */
const slips = `
  ansibel:ansible atp:apt akw:awk asw:aws azz:az basenaem:basename bahs:bash brwe:brew bundel:bundle bnu:bun
  bunzi2p:bunzip2 bzi2p:bzip2 carog:cargo cta:cat cdd:cd chmdo:chmod chonw:chown clagn:clang cmaek:cmake cpm:cmp
  cmom:comm composre:composer conad:conda cpa:cp culr:curl ctu:cut daet:date deon:deno dff:df dfif:diff
  dirnaem:dirname dockre:docker dotnte:dotnet duu:du ecoh:echo egrpe:egrep evn:env eslitn:eslint exrp:expr fales:false
  fdd:fd fgrpe:fgrep fiel:file fidn:find firebaes:firebase fluttre:flutter ftm:fmt fodl:fold cgc:gcc gclodu:gcloud
  gme:gem gti:git goftm:gofmt gradel:gradle grpe:grep grousp:groups gunzpi:gunzip gzpi:gzip heda:head heml:helm
  hostnaem:hostname htpo:htop icovn:iconv idd:id jaav:java jaavc:javac jets:jest joni:join jqq:jq klil:kill
  kubeclt:kubectl lses:less lnn:ln locaet:locate lls:ls lsfo:lsof maek:make mna:man md5smu:md5sum mkdri:mkdir
  mktepm:mktemp mocah:mocha moer:more mvv:mv vmn:mvn myyp:mypy ninaj:ninja nll:nl noed:node nohpu:nohup pnm:npm
  nxp:npx nvmi:nvim odd:od opensls:openssl paset:paste pathc:patch pelr:perl pph:php ppi:pip ppi3:pip3 pnmp:pnpm
  podmna:podman poetyr:poetry prettire:prettier printevn:printenv prinft:printf pss:ps pslq:psql pusdh:pushd pdw:pwd
  pytets:pytest pythno:python pythno3:python3 raisl:rails raek:rake readlikn:readlink realpaht:realpath rve:rev rgg:rg
  rmm:rm rmdri:rmdir rsycn:rsync ruyb:ruby rfuf:ruff rusct:rustc rustpu:rustup spc:scp sde:sed sqe:seq shh:sh
  sha256smu:sha256sum shfu:shuf slepe:sleep sotr:sort splti:split sshh:ssh stta:stat strinsg:strings suod:sudo
  switf:swift tca:tac tali:tail tra:tar ete:tee terrafomr:terraform tets:test tiem:time timeotu:timeout tpo:top
  touhc:touch trb:tr treee:tree ture:true tcs:tsc tyt:tty tyep:type unaem:uname unqi:uniq unzpi:unzip uptiem:uptime
  vmi:vim vitets:vitest wathc:watch wwc:wc wgte:wget whihc:which woh:who whoaim:whoami xarsg:xargs xdx:xxd yanr:yarn
  yse:yes zcta:zcat zpi:zip zhs:zsh zsdt:zstd`;

/** Names that one slip makes of each other. */
const alike = `
  awk aws cat cut cmake make cmp cp egrep fgrep grep gunzip unzip gzip zip htop top java javac jest test man mvn npm npx nvim vim
  patch watch php pip pip3 pnpm python python3 rake scp sed seq ssh tac tar tee tree true tsc zcat zsh`;

describe("misspelt program names", () => {
  it.each(slips.trim().split(/\s+/))("the misspelt program name is noticed: %s", (slip) => {
    const [written, meant] = slip.split(":");
    expect(problems({ deny: [`Shell(${written})`] })).toMatchObject([
      { kind: "misspelt", advice: `Write Shell(${meant}).` },
    ]);
  });

  it.each(alike.trim().split(/\s+/))("the program name %s is not a misspelling", (name) => {
    expect(problems({ deny: [`Shell(${name})`] })).toEqual([]);
  });
});
