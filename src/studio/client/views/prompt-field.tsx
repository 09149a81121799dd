// The composer's text field: grows with its text, accepts pasted pictures, and completes @ for files and / for commands.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { service } from "../state/app.ts";
import { type Picture, takePictures } from "../state/pictures.ts";

type FieldProps = {
  text: Signal<string>;
  pictures: Signal<readonly Picture[]>;
  label: string;
  placeholder: string;
  isDisabled: boolean;
  /** The folder that mentioned file names are relative to. */
  workspace: string | undefined;
  rows: number;
  hasFocus?: boolean | undefined;
  /** Called for each key. Returns whether the composer has handled it. */
  onKey(event: KeyboardEvent): boolean;
};

type Offer = { start: number; names: readonly string[]; chosen: number };

export function PromptField(props: FieldProps) {
  const { text, pictures, label, placeholder, isDisabled, workspace, rows, hasFocus, onKey } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const offer = useSignal<Offer | undefined>(undefined);
  const id = useId();
  useEffect(() => fitHeight(field.current), [text.value]);
  useEffect(() => {
    if (hasFocus) field.current?.focus();
  }, [hasFocus]);
  const look = async () => {
    const at = field.current!.selectionStart;
    const found = wordAt(text.value, at);
    if (!found || workspace === undefined) {
      offer.value = undefined;
      return;
    }
    const names = await namesFor(found.word, workspace).catch(() => []);
    if (field.current?.selectionStart !== at) return;
    offer.value = names.length > 0 ? { start: found.start, names, chosen: 0 } : undefined;
  };
  const take = (name: string) => {
    const at = field.current!.selectionStart;
    const { start } = offer.value!;
    const rest = text.value.slice(at);
    const end = name.endsWith("/") ? "" : " ";
    text.value = `${text.value.slice(0, start)}${name}${end}${rest}`;
    offer.value = undefined;
    requestAnimationFrame(() => {
      const to = start + name.length + end.length;
      field.current?.setSelectionRange(to, to);
      field.current?.focus();
      if (end === "") void look();
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const open = offer.value;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (open && by !== undefined) {
      event.preventDefault();
      const { length } = open.names;
      offer.value = { ...open, chosen: (open.chosen + by + length) % length };
    } else if (open && (event.key === "Tab" || (event.key === "Enter" && !event.ctrlKey && !event.metaKey))) {
      event.preventDefault();
      take(open.names[open.chosen]!);
    } else if (open && event.key === "Escape") offer.value = undefined;
    else if (event.key === "Escape") field.current?.blur();
    else if (!event.isComposing && onKey(event)) event.preventDefault();
  };
  const add = async (files: Iterable<File>) => {
    pictures.value = await takePictures(files, pictures.value);
  };
  return (
    <div class="field">
      <textarea
        ref={field}
        rows={rows}
        aria-autocomplete="list"
        aria-controls={`${id}-names`}
        aria-activedescendant={offer.value && `${id}-${offer.value.chosen}`}
        aria-label={label}
        placeholder={placeholder}
        disabled={isDisabled}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          void look();
        }}
        onBlur={() => (offer.value = undefined)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void add(files);
        }}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void add(event.dataTransfer?.files ?? []);
        }}
      />
      <div id={`${id}-names`} class="offers" role="listbox" aria-label="Names" hidden={!offer.value}>
        {offer.value?.names.map((name, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
          <div
            key={name}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === offer.value!.chosen}
            // Prevent the click from moving the focus out of the field.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(name)}
          >
            {name}
          </div>
        ))}
      </div>
      {pictures.value.length > 0 && (
        <ul class="attached" aria-label="Pictures">
          {pictures.value.map((picture) => (
            <li key={picture}>
              <img src={`data:${picture.mime};base64,${picture.base64}`} alt={picture.name} />
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${picture.name}`}
                onClick={() => (pictures.value = pictures.value.filter((each) => each !== picture))}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Finds the `@path` being typed, or the `/name` at the beginning. */
function wordAt(text: string, at: number): { word: string; start: number } | undefined {
  const before = text.slice(0, at);
  const found = /(?:^|\s)(@[^\s@]*)$/.exec(before) ?? /^(\/[\w:-]*)$/.exec(before);
  const word = found?.[1];
  return word === undefined ? undefined : { word, start: at - word.length };
}

const maxNames = 8;

async function namesFor(word: string, workspace: string): Promise<string[]> {
  if (word.startsWith("/")) {
    const found = await service().files(workspace, ".cursor/commands");
    const names = found.flatMap(({ name }) => (name.endsWith(".md") ? `/${name.slice(0, -3)}` : []));
    return names.filter((name) => name.startsWith(word)).slice(0, maxNames);
  }
  const path = word.slice(1);
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const begun = path.slice(folder.length).toLowerCase();
  const found = await service().files(workspace, folder || ".");
  return found
    .filter(({ name }) => name.toLowerCase().startsWith(begun) && (begun.startsWith(".") || !name.startsWith(".")))
    .slice(0, maxNames)
    .map(({ name, type }) => `@${folder}${name}${type === "folder" ? "/" : ""}`);
}

function fitHeight(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 240)}px`;
}
