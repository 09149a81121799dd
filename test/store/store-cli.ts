// Scenarios of store cases through the built CLI: what a user sees of them.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findChat } from "../../src/store/chats/find-chat.ts";
import { chatsDir } from "../../src/store/chats/layout.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { type CliOptions, type CliRun, createWorkspace, type Workspace } from "../support/run-cli.ts";
import { cli } from "./kill.ts";
import { faultSettings } from "./store-faults.ts";
import { faults } from "./store-program.ts";
import { filesBelow, type Input, integrityOf, type StoreSeen } from "./store-seen.ts";

const touch = (name: string, then = "") => ({ name: "Shell", args: { command: `echo x >> ${name}${then}` } });
const oneCall = [{ text: "Now.", calls: [touch("ran.txt")] }, { text: "Done." }];
const talk = [{ text: "Fine." }];

const scenarios: [RegExp, (input: Input, place: Workspace) => Promise<StoreSeen>][] = [
  [/^kill\w*_then_resume/, killedCall],
  [/^inject/, failingDisk],
  [/^chmod/, readOnlyFolder],
  [/^corrupt$|^replace/, damagedFile],
  [/^(delete|update)_row/, changedRow],
  [/two_/, twoRuns],
  [/umask/, umask],
  [/^resume/, wrongId],
];

/** Undefined: the scenario is none for a CLI, or there is no CLI. */
export async function playOverCli(input: Input): Promise<StoreSeen | undefined> {
  const found = scenarios.find(([pattern]) => pattern.test(String(input["scenario"])));
  if (!found || !existsSync(cli)) return undefined;
  using place = createWorkspace();
  return await found[1](input, place);
}

async function killedCall(_input: Input, place: Workspace): Promise<StoreSeen> {
  const script = [{ calls: [touch("ran.txt", "; sleep 5")] }, ...talk];
  const killed = await play(place, script, [], {
    onStart(child) {
      const timer = setInterval(() => {
        if (!existsSync(join(place.path, "ran.txt"))) return;
        clearInterval(timer);
        child.kill("SIGKILL");
      }, 20);
    },
  });
  const id = sessionOf(killed);
  const resumed = await play(place, talk, ["--resume", id]);
  const folder = findChat(place.config, id, place.path);
  const { events, turns } = readChat(folder, { events: true });
  const ends = events.flatMap(({ event }) => (event.type === "tool_end" ? [event] : []));
  return {
    exit: resumed.exit,
    integrity: integrityOf(folder),
    lost: turns.length === 2 && ends.length === 1 ? 0 : 1,
    resumes: resumed.exit === 0 && turns.at(-1)?.status === "done",
    interrupted:
      /cut off/.test(resumed.stderr + resumed.stdout) && ends[0]?.outcome?.kind === "error" ? [ends[0].callId] : [],
    rerun: readFileSync(join(place.path, "ran.txt"), "utf8") !== "x\n",
  };
}

/** Each call leaves a file: one without a kept beginning ran unrecorded. */
async function failingDisk(input: Input, place: Workspace): Promise<StoreSeen> {
  const env = faults(faultSettings(input));
  if (typeof env === "string") throw new Error(env);
  const script = Array.from({ length: 8 }, (_, index) => ({ calls: [touch(`ran-${index}.txt`)] }));
  const run = await play(place, [...script, ...talk], [], { env });
  const id = sessionOf(run);
  const folder = id === "undefined" ? undefined : findChat(place.config, id, place.path);
  const { events } = folder === undefined ? { events: [] } : readChat(folder, { events: true });
  const starts = events.filter(({ event }) => event.type === "tool_start").length;
  const shown = run.lines().filter((line) => line["type"] === "tool_call" && line["subtype"] === "started").length;
  const ran = readdirSync(place.path).filter((name) => name.startsWith("ran-")).length;
  return {
    ...errorOf(run),
    lost: Math.max(0, shown - starts),
    startedUnkept: ran > starts,
    keptAfterError: false,
    ...(folder !== undefined && { integrity: integrityOf(folder) }),
  };
}

async function readOnlyFolder(input: Input, place: Workspace): Promise<StoreSeen> {
  const folder = chatsDir(place.config);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, Number.parseInt(String(input["mode"] ?? "0555"), 8));
  try {
    const refused = await play(place, oneCall);
    const startedUnkept = existsSync(join(place.path, "ran.txt"));
    const ephemeral = await play(place, oneCall, ["--no-persist"]);
    const goesOn = ephemeral.exit === 0 && existsSync(join(place.path, "ran.txt"));
    return { ...errorOf(refused), startedUnkept: startedUnkept || !goesOn };
  } finally {
    chmodSync(folder, 0o700);
  }
}

async function damagedFile(input: Input, place: Workspace): Promise<StoreSeen> {
  const [id, other] = [sessionOf(await play(place, talk)), sessionOf(await play(place, talk))];
  const folder = findChat(place.config, id, place.path);
  const file = join(folder, "store.db");
  if (input["size"] !== undefined) truncateSync(file, Number(input["size"]));
  else {
    const bytes = readFileSync(file);
    const [first, last] = (input["bytes"] ?? [0, 16]) as [number, number];
    writeFileSync(file, bytes.fill(0, first, last));
  }
  const damaged = readFileSync(file);
  const resumed = await play(place, oneCall, ["--resume", id]);
  const keptAside = readdirSync(folder).filter((name) => name.startsWith("store.db.corrupt-"));
  const others = await play(place, talk, ["--resume", other]);
  return {
    ...errorOf(resumed),
    keptAside,
    isAsideWhole: keptAside.length > 0 && keptAside.every((name) => readFileSync(join(folder, name)).equals(damaged)),
    othersWork: others.exit === 0,
    isNew: !readFileSync(file).equals(damaged),
  };
}

async function changedRow(input: Input, place: Workspace): Promise<StoreSeen> {
  const id = sessionOf(await play(place, talk));
  await play(place, talk, ["--resume", id]);
  const database = openDatabase(join(findChat(place.config, id, place.path), "store.db"));
  const meta = String(database.prepare("SELECT value FROM meta WHERE key = '0'").get()?.["value"]);
  const { latestRootBlobId } = JSON.parse(Buffer.from(meta, "hex").toString()) as { latestRootBlobId: string };
  const first = String(database.prepare("SELECT blob FROM courser_messages ORDER BY sequence").get()?.["blob"]);
  const blob = /root/i.test(String(input["which"] ?? "")) ? latestRootBlobId : first;
  if (/^delete/.test(String(input["scenario"]))) database.prepare("DELETE FROM blobs WHERE id = ?").run(blob);
  else database.prepare("UPDATE blobs SET data = CAST(data || ' ' AS BLOB) WHERE id = ?").run(blob);
  database.close();
  const resumed = await play(place, oneCall, ["--resume", id]);
  const seen = errorOf(resumed);
  return {
    ...seen,
    namesMissing: seen.message?.includes(blob) === true,
    offersOlder: /last complete root, [0-9a-f]{64}/.test(seen.message ?? ""),
    // The model was never asked: its script begins with a call.
    reachesModel: existsSync(join(place.path, "ran.txt")),
  };
}

async function twoRuns(_input: Input, place: Workspace): Promise<StoreSeen> {
  const id = sessionOf(await play(place, talk));
  const slow = [{ delayMs: 9000, text: "Late." }];
  const first = play(place, slow, ["--resume", id]);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const started = performance.now();
  const second = await play(place, talk, ["--resume", id], {}, "second");
  const ms = performance.now() - started;
  const kept = await first;
  const folder = findChat(place.config, id, place.path);
  return { ...errorOf(second), ms, integrity: integrityOf(folder), resumes: kept.exit === 0 };
}

async function umask(input: Input, place: Workspace): Promise<StoreSeen> {
  const before = process.umask(Number.parseInt(String(input["umask"] ?? "000"), 8));
  let run: Promise<CliRun>;
  try {
    run = play(place, oneCall);
  } finally {
    process.umask(before);
  }
  await run;
  return { modes: filesBelow(place.config) };
}

async function wrongId(input: Input, place: Workspace): Promise<StoreSeen> {
  const before = Object.keys(filesBelow(dirname(place.path))).length;
  const run = await play(place, oneCall, ["--resume", String(input["session_id"])]);
  const made = Object.keys(filesBelow(dirname(place.path))).length - before;
  // The script itself is one file.
  return { ...errorOf(run), readsOutside: made > 1 || existsSync(join(place.path, "ran.txt")) };
}

function play(
  place: Workspace,
  script: unknown,
  args: readonly string[] = [],
  options: CliOptions = {},
  name = "script",
): Promise<CliRun> {
  const file = join(dirname(place.path), `${name}.json`);
  writeFileSync(file, JSON.stringify(script));
  const fixed = ["-p", "--force", "--output-format", "stream-json", "--model", `script:${file}`];
  return place.run([...fixed, ...args, "go"], { name: cli, ...options });
}

function sessionOf(run: CliRun): string {
  return String(run.stdout.match(/"session_id":"([0-9a-f-]{36})"/)?.[1]);
}

function errorOf(run: CliRun): StoreSeen {
  const result = run.lines().at(-1);
  return {
    exit: run.exit,
    ...(result?.["error_code"] !== undefined && { errorCode: result["error_code"], message: result["result"] }),
  };
}
