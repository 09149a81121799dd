// The raw events of a session, one page at a time, each expandable.
import { useSignal } from "@preact/signals";
import type { Step } from "../state/conversation.ts";
import { Select } from "./chips.tsx";
import type { Subject } from "./conversation.tsx";

const pageSize = 200;

export function RawEvents({ subject }: { subject: Subject }) {
  const { conversation } = subject;
  conversation.version.value; // reading the version subscribes to the steps
  const kind = useSignal("");
  const page = useSignal<number | undefined>(undefined);
  const { steps } = conversation;
  const kinds = [...new Set(steps.map(({ event }) => event.type))].sort();
  const found = kind.value === "" ? steps : steps.filter(({ event }) => event.type === kind.value);
  const pages = Math.max(1, Math.ceil(found.length / pageSize));
  const at = Math.min(page.value ?? 0, pages - 1);
  return (
    <div class="scroll">
      <div class="toolbar">
        <Select
          label="Kind of event"
          value={kind.value}
          options={[["", "All events"], ...kinds.map((each): [string, string] => [each, each])]}
          onChange={(next) => (kind.value = next)}
        />
        <span class="soft">
          {found.length} {conversation.isWhole.value ? "" : "so far "}
        </span>
        <span class="fill" />
        <button type="button" disabled={at === 0} onClick={() => (page.value = at - 1)}>
          Earlier
        </button>
        <span class="soft">
          {at + 1} / {pages}
        </span>
        <button type="button" disabled={at === pages - 1} onClick={() => (page.value = at + 1)}>
          Later
        </button>
      </div>
      <ol class="raw">
        {found.slice(at * pageSize, (at + 1) * pageSize).map((step) => (
          <Raw key={step.index} step={step} />
        ))}
      </ol>
    </div>
  );
}

function Raw({ step: { index, turn, event, agent } }: { step: Step }) {
  const isOpen = useSignal(false);
  const { type, at, ...rest } = event;
  const line = JSON.stringify(rest);
  return (
    <li>
      <button
        type="button"
        class="raw-line"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <span class="raw-index">{index}</span>
        <b>{type}</b>
        <span class="raw-where">
          turn {turn}
          {agent && ` · ${agent.slice(0, 8)}`}
        </span>
        <span class="raw-text">{line.slice(0, 240)}</span>
        <span class="raw-at">{at === undefined ? "" : new Date(at).toISOString().slice(11, 23)}</span>
      </button>
      {isOpen.value && <pre>{JSON.stringify(event, null, 2)}</pre>}
    </li>
  );
}
