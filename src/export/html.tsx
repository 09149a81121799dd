// Renders a chat as one HTML page with the studio's components: no external resources, no scripts, and all chat content is text.
import { createHash } from "node:crypto";
import type { ComponentChildren, VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import type { ChatRecord } from "../store/chats/chat.ts";
import { ContextChart, CostChart, TimeChart, UsageChart } from "../studio/components/charts.tsx";
import componentStyle from "../studio/components/components.css?raw";
import { BlockView } from "../studio/components/timeline/block.tsx";
import type { Block, TurnNumbers } from "../studio/components/timeline/blocks.ts";
import { View } from "../studio/components/view-options.tsx";
import { codePieces } from "../view/code-pieces.ts";
import { documentText } from "../view/document-text.ts";
import { counted, duration } from "../view/numbers.ts";
import { firstLine, timeText, tokensText } from "./format.ts";
import pageStyle from "./page.css?raw";
import { type SessionPage, type SessionTurn, sessionPage } from "./session-page.ts";

export function* htmlExport(record: ChatRecord): Generator<string> {
  const session = sessionPage(record);
  yield documentHead(session.title);
  yield `<div class="page">${drawn(<Title session={session} />)}${drawn(<Turns session={session} />)}\n<main>\n`;
  for (const turn of session.turns) yield `${drawn(<Turn turn={turn} workspace={session.workspace} />)}\n`;
  yield "</main>\n</div>\n</body>\n</html>\n";
}

function drawn(element: VNode): string {
  return renderToString(element);
}

const style = componentStyle + pageStyle;

function documentHead(title: string): string {
  const sheet = createHash("sha256").update(style).digest("base64");
  // A security policy for the page: if markup got through, it could neither run nor send requests.
  const policy = `default-src 'none'; style-src 'sha256-${sheet}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
${drawn(<title>{documentText(title)}</title>)}
<style>${style}</style>
</head>
<body>
`;
}

function Title({ session }: { session: SessionPage }) {
  const { id, title, workspace, model, createdAt, updatedAt, turns, usage, problems } = session;
  const calls = turns.reduce((count, { numbers }) => count + numbers.calls, 0);
  return (
    <header>
      <h1>{documentText(title)}</h1>
      <dl>
        {model !== undefined && <Fact name="Model">{documentText(model)}</Fact>}
        <Fact name="Time">
          <Time at={createdAt} /> – <Time at={updatedAt} />
        </Fact>
        <Fact name="Turns">{`${turns.length}${calls > 0 ? `, ${counted(calls, "tool call")}` : ""}`}</Fact>
        {usage && <Fact name="Tokens">{tokensText(usage)}</Fact>}
        {workspace !== undefined && (
          <Fact name="Workspace">
            <code>{documentText(workspace)}</code>
          </Fact>
        )}
        <Fact name="Chat">
          <code>{documentText(id)}</code>
        </Fact>
      </dl>
      {problems.length > 0 && (
        <div class="problems">
          <p>This chat is damaged; what could be read follows.</p>
          <ul>
            {problems.map((problem, index) => (
              <li key={index}>{documentText(problem)}</li>
            ))}
          </ul>
        </div>
      )}
    </header>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Time({ at }: { at: number }) {
  const text = timeText(at);
  return text === "" ? null : <time datetime={new Date(at).toISOString()}>{text}</time>;
}

function Turns({ session: { turns } }: { session: SessionPage }) {
  const numbers = turns.map((turn) => turn.numbers);
  return (
    <nav aria-label="Turns">
      <h2>Turns</h2>
      <ol>
        {numbers.map((turn) => (
          <li key={turn.number}>
            <a href={`#turn-${turn.number}`}>
              <span class="number">{turn.number}</span>
              <span>
                <span class="prompt">{documentText(firstLine(turn.prompt, 120))}</span>
                <small class={turn.state}>{aboutTurn(turn)}</small>
              </span>
            </a>
          </li>
        ))}
      </ol>
      {numbers.length > 1 && (
        <div class="charts">
          {numbers.some(({ usage }) => usage) && <UsageChart turns={numbers} />}
          {numbers.some(({ context }) => context) && <ContextChart turns={numbers} />}
          {numbers.some(({ costUsd }) => costUsd) && <CostChart turns={numbers} />}
          {numbers.some(({ durationMs }) => durationMs > 0) && <TimeChart turns={numbers} />}
        </div>
      )}
    </nav>
  );
}

function aboutTurn({ state, calls, durationMs }: TurnNumbers): string {
  const details = [
    state !== "done" && state,
    calls > 0 && counted(calls, "call"),
    durationMs > 0 && duration(durationMs),
  ];
  return details.filter(Boolean).join(" · ");
}

function Turn({ turn: { number, at, blocks }, workspace }: { turn: SessionTurn; workspace: string | undefined }) {
  return (
    <View {...(workspace !== undefined && { workspace })} isStatic canRewind highlight={codePieces}>
      <section class="turn" id={`turn-${number}`} aria-label={`Turn ${number}`}>
        <p class="when">
          <a href={`#turn-${number}`}>Turn {number}</a>
          {at !== undefined && <Time at={at} />}
        </p>
        {blocks.map((block) => (
          <Row key={block.id} block={block} />
        ))}
      </section>
    </View>
  );
}

function Row({ block }: { block: Block }) {
  const isPrompt = block.type === "user" && !block.isAside;
  return (
    <div class={`cr-row cr-row-${block.type}`} id={isPrompt ? undefined : block.id}>
      <BlockView block={block} />
    </div>
  );
}
