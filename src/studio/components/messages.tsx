// Renders messages of the user and the model, thinking, notices, and how a turn ended.
import { errorCodes } from "../../protocol/error-codes.ts";
import type { TurnEnding } from "../../protocol/run.ts";
import { costOfEnding } from "../../protocol/usage.ts";
import { collapsed } from "../../text/one-line.ts";
import { documentText } from "../../view/document-text.ts";
import { counted, dollars, duration } from "../../view/numbers.ts";
import { Copy } from "./copy.tsx";
import { Folded } from "./text/folded.tsx";
import { Markdown } from "./text/markdown.tsx";
import { Pictures } from "./text/picture.tsx";
import type { BlockBody } from "./timeline/blocks.ts";
import { useOpen, useView } from "./view-options.tsx";

type BodyOf<Type extends BlockBody["type"]> = Omit<Extract<BlockBody, { type: Type }>, "type">;

/** Shows a message of the user as it was typed. */
export function UserMessage({ text, isAside, pictures = [] }: BodyOf<"user">) {
  const lines = documentText(text.trim()).split("\n");
  return (
    <div class={`cr-user${isAside ? " cr-aside" : ""}`}>
      <Folded
        items={lines}
        first={30}
        noun="line"
        draw={(line, index) => (
          <span key={index} class="cr-line">
            {line}
            {"\n"}
          </span>
        )}
      />
      <Pictures pictures={pictures} />
    </div>
  );
}

/** Shows an answer of the model. */
export function AssistantMessage({ text, isOpen, isCut }: BodyOf<"text">) {
  return (
    <div class={`cr-assistant${isOpen ? " cr-open" : ""}`}>
      <Markdown text={text} />
      {isCut && <p class="cr-note">Cut off here.</p>}
      {!isOpen && <Copy text={text} label="Copy this answer" />}
    </div>
  );
}

/** Shows thinking as a single line that expands to the whole text. */
export function Thinking({ text, isOpen: isRunning, durationMs, id }: BodyOf<"thinking"> & { id: string }) {
  const { isStatic } = useView();
  const [isOpen, setOpen] = useOpen(id, false);
  const name = isRunning
    ? "Thinking"
    : durationMs !== undefined && durationMs >= 1000
      ? `Thought for ${duration(durationMs)}`
      : "Thought";
  return (
    <details class="cr-thinking" open={isOpen}>
      <summary
        onClick={(event) => {
          event.preventDefault();
          setOpen(!isOpen);
        }}
      >
        <span class="cr-name">{name}</span>
        <span class="cr-thought">{documentText(collapsed(text.slice(0, 400)).replace(/[*_`#]+/g, ""))}</span>
      </summary>
      {(isOpen || isStatic) && (
        <div class="cr-thoughts">
          <Markdown text={text} />
        </div>
      )}
    </details>
  );
}

/** Shows a remark of the CLI. */
export function Notice({ kind, message }: BodyOf<"notice">) {
  const isWarning = kind === "warning" || kind === "damaged";
  return (
    <p class={`cr-notice${isWarning ? " cr-warning" : ""}`}>
      {isWarning && (
        <span class="cr-sign" role="img" aria-label="Warning">
          !
        </span>
      )}
      {documentText(message)}
    </p>
  );
}

/** Returns whether the user interrupted the turn, which does not count as a failure. */
export function isStopped({ type, code }: { type: string; code?: string }): boolean {
  return type === "fail" && code === "INTERRUPTED";
}

/** `waitMs` is the time spent waiting for the user, which counts for neither the model nor the tools. */
type ResultProps = { ending: TurnEnding; changed: number; waitMs?: number };

/** Shows how a turn ended, in one line; a failure with its reason. */
export function ResultLine({ ending, changed, waitMs = 0 }: ResultProps) {
  const cost = costOfEnding(ending) ?? 0;
  const after = (verb: string, word: string) =>
    [
      ending.durationMs > 0 ? `${verb} ${word} ${duration(Math.max(0, ending.durationMs - waitMs))}` : verb,
      ...parts,
    ].join(" · ");
  const parts = [
    waitMs >= 1000 && `${duration(waitMs)} waiting for you`,
    changed > 0 && `${counted(changed, "file")} changed`,
    ending.denials && ending.denials.length > 0 && `${counted(ending.denials.length, "call")} refused`,
    cost > 0 && dollars(cost),
  ].filter(Boolean);
  if (ending.type === "done") return <p class="cr-result">{after("Done", "in")}</p>;
  if (isStopped(ending)) return <p class="cr-result">{after("Interrupted", "after")}</p>;
  if (ending.code !== undefined && Object.hasOwn(errorCodes, ending.code)) parts.push(ending.code);
  return (
    <div class="cr-result cr-failed">
      <p class="cr-failure">
        <span class="cr-sign" role="img" aria-label="Failed">
          ✗
        </span>
        <span>{documentText(ending.message.trim())}</span>
      </p>
      <p>{after("Failed", "after")}</p>
    </div>
  );
}
