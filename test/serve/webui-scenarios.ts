// Scenarios of the group `webui`: what a model says, floods of connections, answers to questions that are no longer asked.
import { existsSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type TestService, until } from "./service-support.ts";
import type { Seen } from "./webui-driver.ts";

export async function playWebuiScenario(
  service: TestService,
  input: Record<string, any>,
  { long }: { long: boolean },
): Promise<Seen> {
  if (input["assistant_text"] !== undefined) return sayText(service, String(input["assistant_text"]));
  const scenario = String(input["scenario"] ?? "");
  if (/connections/.test(scenario)) return flood(service, scenario, long);
  if (/twice|again/.test(scenario)) return answerTwice(service);
  if (/other run|another run/.test(scenario)) return answerForOther(service);
  if (/approv|answer/.test(scenario)) return answerStale(service);
  throw new Error(`this driver does not know the scenario '${scenario}'`);
}

/** What a model says goes to readers as JSON, and into an export as text. */
async function sayText(service: TestService, text: string): Promise<Seen> {
  const model = service.script([{ text }]);
  const body = { workspace: service.workspace.path, prompt: { text: "say it" }, model, force: true };
  const run = (await service.call("POST", "/api/runs", body)).body;
  const { sessionId } = await service.over(run.id);
  const events = await service.call("GET", `/api/sessions/cursor/${sessionId}/events`);
  const page = await service.call("GET", `/api/sessions/cursor/${sessionId}/export?format=html`);
  const isData =
    events.headers["content-type"]?.includes("application/json") &&
    events.headers["x-content-type-options"] === "nosniff";
  const said = events.body.items.some(({ event }: any) => event.type === "text_end" && event.text === text);
  const isSaved = page.headers["content-disposition"]?.startsWith("attachment") === true;
  const loads = [...page.text.matchAll(/<(?:img|script|iframe|link|object|embed|video|audio|source)\b[^>]*>/gi)].map(
    ([tag]) => tag,
  );
  const runs = loads.some((tag) => /\bon\w+\s*=|<script/i.test(tag));
  return {
    rendered_as_text: isData === true && said && isSaved && !runs,
    no_request_to: !loads.some((tag) => /(?:src|href|data|poster)\s*=\s*["']?(?:https?:)?\/\//i.test(tag)),
    csp: events.headers["content-security-policy"],
  };
}

/** `2,000 idle connections for 60 s`; the short form holds them for a moment. */
async function flood(service: TestService, scenario: string, long: boolean): Promise<Seen> {
  const count = Number(/([\d,]+) /.exec(scenario)?.[1]?.replaceAll(",", "") ?? 1000);
  const seconds = Number(/(\d+) s\b/.exec(scenario)?.[1] ?? 10);
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const socket = connect(service.info.port, "127.0.0.1");
    socket.on("error", () => {});
    sockets.push(socket);
    if (index % 100 === 99) await sleep(5);
  }
  const deadline = Date.now() + (long ? seconds * 1000 : 500);
  let usable = true;
  do {
    const started = Date.now();
    const { status } = await service.call("GET", "/v1/me");
    usable &&= status === 200 && Date.now() - started < 2000;
    await sleep(200);
  } while (Date.now() < deadline);
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.info.pid}/status`, "utf8"))?.[1];
  for (const socket of sockets) socket.destroy();
  return { ui_usable: usable, rss_mb: Number(rss) / 1024 };
}

/** A run that asks whether it may delete a file. */
async function asking(service: TestService, ...files: string[]) {
  for (const file of files) service.workspace.file(file, "x");
  const replies = files.map((path) => ({ calls: [{ name: "Delete", args: { path } }] }));
  const model = service.script([...replies, { text: "end" }, { text: "end" }]);
  const body = { workspace: service.workspace.path, prompt: { text: "delete" }, model };
  const run = (await service.call("POST", "/api/runs", body)).body;
  return { id: String(run.id), question: await nextQuestion(service, run.id) };
}

async function nextQuestion(service: TestService, run: string, not?: string): Promise<{ id: string; hash: string }> {
  let found: any;
  await until(async () => {
    const { items } = (await service.call("GET", "/api/questions")).body;
    found = items.find((each: any) => each.run === run && each.question.id !== not)?.question;
    return found !== undefined;
  }, "a question");
  return found;
}

function answer(service: TestService, run: string, { id, hash }: { id: string; hash: string }) {
  return service.call("POST", `/api/runs/${run}/answer`, { question: id, hash, answer: { type: "yes" } });
}

/** The agent asks for A; that is refused, it asks for B; then the approval of A arrives. */
async function answerStale(service: TestService): Promise<Seen> {
  const { id, question } = await asking(service, "stale-a.txt", "stale-b.txt");
  await service.call("POST", `/api/runs/${id}/answer`, {
    question: question.id,
    hash: question.hash,
    answer: { type: "no" },
  });
  const second = await nextQuestion(service, id, question.id);
  const late = await answer(service, id, question);
  const mixed = await answer(service, id, { id: second.id, hash: question.hash });
  await sleep(300);
  const ranB = !existsSync(join(service.workspace.path, "stale-b.txt"));
  await service.fleet.cancel(id, "the case is over");
  await service.over(id);
  const isTaken = late.status === 200 || mixed.status === 200;
  return { approved: ranB || isTaken ? "B" : "none", B_runs: ranB };
}

async function answerTwice(service: TestService): Promise<Seen> {
  const { id, question } = await asking(service, "twice.txt");
  const replies = await Promise.all([1, 2, 3].map(() => answer(service, id, question)));
  await service.over(id);
  const statuses = replies.map(({ status }) => status).sort();
  return { counted_once: statuses.join() === "200,409,409" };
}

async function answerForOther(service: TestService): Promise<Seen> {
  const one = await asking(service, "one.txt");
  const two = await asking(service, "two.txt");
  const { status } = await answer(service, two.id, one.question);
  await sleep(200);
  const isUntouched =
    existsSync(join(service.workspace.path, "one.txt")) && existsSync(join(service.workspace.path, "two.txt"));
  for (const { id } of [one, two]) {
    await service.fleet.cancel(id, "the case is over");
    await service.over(id);
  }
  return { refused: status >= 400 && isUntouched };
}
