// The palette: finds any action and any session by a few letters.
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { baseName, moment } from "../model/figures.ts";
import { recent, sessionTitle } from "../state/app.ts";
import { actions } from "../state/keys.ts";
import { isPaletteOpen } from "../state/layout.ts";
import { navigate } from "../state/router.ts";

type Choice = { id: string; title: string; note: string; keys?: string; run(): void };

const most = 40;

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const text = useSignal("");
  const chosen = useSignal(0);
  // Open the palette synchronously, so that it receives the next key.
  useLayoutEffect(() => {
    dialog.current!.showModal();
  }, []);
  const close = () => (isPaletteOpen.value = false);
  const found = choicesFor(text.value);
  const pick = (choice: Choice | undefined) => {
    close();
    choice?.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      chosen.value = Math.max(0, Math.min(found.length - 1, chosen.value + by));
      document.getElementById(`choice-${chosen.value}`)?.scrollIntoView({ block: "nearest" });
    }
    if (event.key === "Enter") {
      event.preventDefault();
      pick(choicesFor(text.value)[chosen.value]); // use the current text, which may not be rendered yet
    }
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes it on Escape
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Find anything"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={`choice-${chosen.value}`}
        aria-label="Find anything"
        placeholder="Find a session, or something to do"
        value={text.value}
        onKeyDown={onKeyDown}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          chosen.value = 0;
        }}
      />
      <div id="choices" role="listbox" aria-label="Choices">
        {found.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys
          <div
            key={choice.id}
            id={`choice-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen.value}
            class="choice"
            onClick={() => pick(choice)}
          >
            <span class="choice-title">{choice.title}</span>
            <span class="choice-note">{choice.note}</span>
            {choice.keys && <kbd>{choice.keys}</kbd>}
          </div>
        ))}
        {found.length === 0 && <p class="nothing">No matches.</p>}
      </div>
    </dialog>
  );
}

function choicesFor(text: string): Choice[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const now = Date.now();
  const all: Choice[] = [
    ...[...actions.value.values()]
      .flat()
      .filter(({ isKeyOnly }) => !isKeyOnly)
      .map(({ id, title, keys, run }) => ({ id, title, note: "", run, ...(keys !== undefined && { keys }) })),
    ...(recent.value ?? []).map(({ tool, id, agent, workspace, updatedAt, title }) => ({
      id: `${tool}-${id}`,
      title: sessionTitle({ title }, undefined)!,
      note: `${agent} · ${baseName(workspace ?? "")} · ${moment(updatedAt, now)}`,
      run: () => navigate({ type: "session", tool, id, tab: "timeline" }),
    })),
  ];
  return all
    .filter(({ title, note }) => words.every((word) => `${title} ${note}`.toLowerCase().includes(word)))
    .slice(0, most);
}
