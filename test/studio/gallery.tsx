// A page with every component: to be looked at, and to be examined by axe. Bundled by gallery-page.ts.
import { render } from "preact";
import {
  type Block,
  BlockView,
  ContextChart,
  ContextMeter,
  CostChart,
  type Question,
  QuestionCard,
  TimeBar,
  TimeChart,
  Timeline,
  TimelineLog,
  UsageChart,
  View,
} from "../../src/studio/components/index.ts";
import { failedCommand, sampleCall, samples, workspace } from "./sample-calls.ts";
import { longSession, shortSession } from "./sample-events.ts";
import { questions } from "./sample-questions.ts";

const home = "/home/ada";

/** Every tool in a state, as blocks. */
function cards(state: Parameters<typeof sampleCall>[1]): Block[] {
  return Object.keys(samples).map((name) => ({
    id: `${name}-${state}`,
    turn: 1,
    type: "call",
    call: sampleCall(name, state),
  }));
}

const everything: Block[] = [
  {
    id: "u",
    turn: 1,
    type: "user",
    text: "The upload test fails about once in ten runs.\nFind out why and fix the cause.",
  },
  {
    id: "th",
    turn: 1,
    type: "thinking",
    text: "The test fails rarely, so it is **probably** a race. I look at the writer first.",
    durationMs: 4200,
  },
  {
    id: "a",
    turn: 1,
    type: "text",
    text: "The failure is a race: the server answers before the temporary file is flushed. I will look at the writer.\n\n```ts\nconst out = createWriteStream(path); // not awaited\n```\n\n| file | lines |\n|---|--:|\n| `store.ts` | 120 |\n\n> It was *always* so.\n\n1. Await it\n2. Close it",
  },
  ...cards("success"),
  { id: "f", turn: 1, type: "call", call: failedCommand },
  ...cards("failed").slice(0, 2),
  ...cards("refused").slice(0, 2),
  ...cards("running").slice(6, 8),
  { id: "aside", turn: 1, type: "user", text: "and add a test for the empty file", isAside: true },
  {
    id: "n",
    turn: 1,
    type: "notice",
    kind: "compacted",
    message: "The conversation was made shorter: 48.2k → 9.1k tokens.",
  },
  { id: "w", turn: 1, type: "notice", kind: "warning", message: "The rule Shell(foo) never matches." },
  {
    id: "e",
    turn: 1,
    type: "ending",
    changed: 3,
    ending: { type: "done", text: "", durationMs: 102_000, apiDurationMs: 58_000, costUsd: 0.08 },
  },
  {
    id: "e2",
    turn: 1,
    type: "ending",
    changed: 0,
    ending: {
      type: "fail",
      message: "API key invalid\nRun courser login.",
      code: "MODEL_AUTH_ERROR",
      durationMs: 300,
      apiDurationMs: 0,
    },
  },
];

function Gallery() {
  const turns = shortSession().turns;
  return (
    <View workspace={workspace} home={home}>
      <main class="gallery">
        <h1>Components</h1>
        {everything.map((block) => (
          <div key={block.id} class={`cr-row cr-row-${block.type}`}>
            <BlockView block={block} />
          </div>
        ))}
        {questions.map((question: Question) => (
          <div key={question.id} class="cr-row">
            <QuestionCard question={question} onAnswer={() => {}} />
          </div>
        ))}
        <div class="charts">
          <UsageChart turns={turns} />
          <ContextChart turns={turns} />
          <CostChart turns={turns} />
          <TimeChart turns={turns} />
          <TimeBar turns={turns} />
          <ContextMeter used={62_000} window={200_000} />
        </div>
      </main>
    </View>
  );
}

const place = document.getElementById("app")!;
/** By the number of events. */
const sessions = new Map<number, ReturnType<typeof longSession>>();

Object.assign(globalThis, {
  showGallery() {
    render(<Gallery />, place);
  },
  /** Returns the milliseconds until the rows are there, and laid out. */
  async showTimeline(events: number) {
    render(null, place);
    const session = sessions.get(events) ?? longSession(events);
    sessions.set(events, session);
    await new Promise(requestAnimationFrame);
    const started = performance.now();
    const log = new TimelineLog();
    log.append(...session);
    Object.assign(globalThis, { log });
    render(
      <main class="frame">
        <h1 class="cr-unseen">Session</h1>
        <Timeline
          log={log}
          workspace={workspace}
          linkTo={(id) => `#${id}`}
          controls={(controls) => Object.assign(globalThis, { controls })}
        />
      </main>,
      place,
    );
    void place.offsetHeight;
    await new Promise(requestAnimationFrame);
    void place.offsetHeight;
    return performance.now() - started;
  },
  showShort(asked?: boolean) {
    const log = shortSession();
    Object.assign(globalThis, { log });
    const answers: unknown[] = [];
    Object.assign(globalThis, { answers });
    render(
      <main class="frame">
        <h1 class="cr-unseen">Session</h1>
        <Timeline
          log={log}
          workspace={workspace}
          home={home}
          linkTo={(id) => `#${id}`}
          controls={(controls) => Object.assign(globalThis, { controls })}
          questions={asked ? questions.slice(0, 1) : []}
          onAnswer={(question, answer) => answers.push([question.id, answer])}
        />
      </main>,
      place,
    );
  },
});
