// The actions on a session, as a menu and in the palette.
import { useRef } from "preact/hooks";
import { copyText } from "../../components/copy.tsx";
import { loadSessions, service } from "../state/app.ts";
import type { Action } from "../state/keys.ts";
import { attempt, showMessage } from "../state/layout.ts";
import { navigate } from "../state/router.ts";
import type { Subject } from "./conversation.tsx";
import { askForText, askToConfirm } from "./dialogs.tsx";
import { save } from "./save-file.ts";

export function SessionMenu({ subject }: { subject: Subject }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const list = sessionActions(subject);
  if (list.length === 0) return null;
  // The menu may be unmounted by then, since an action can navigate elsewhere.
  const close = () => menu.current?.removeAttribute("open");
  return (
    <details
      class="menu"
      ref={menu}
      onFocusOut={(event) => !event.currentTarget.contains(event.relatedTarget as Node | null) && close()}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <summary aria-label="More">⋯</summary>
      <div class="menu-list">
        {list.map(({ id, title, keys, run }) => (
          <button
            type="button"
            key={id}
            onClick={() => {
              close();
              run();
            }}
          >
            {title}
            {keys && <kbd>{keys}</kbd>}
          </button>
        ))}
      </div>
    </details>
  );
}

export function sessionActions(subject: Subject): Action[] {
  const { conversation, isLive, run } = subject;
  const ref = conversation.ref.value;
  if (!ref) return [];
  const isOurs = ref.tool === "cursor";
  const reading: Action[] = [
    { id: "compare", title: "Compare with another session", run: () => navigate({ type: "compare", sessions: [ref] }) },
    {
      id: "copy-link",
      title: "Copy a link to this",
      run: () =>
        void copyText(location.href).then((isDone) =>
          isDone
            ? showMessage("Link copied")
            : showMessage("The browser does not allow the page to copy", { isError: true }),
        ),
    },
  ];
  const stopping: Action[] =
    isLive && run
      ? [{ id: "stop", title: "Stop the run", keys: "s", run: () => void attempt(() => service().stop(run.id)) }]
      : [];
  if (!isOurs) return [...stopping, ...reading];
  const sessionItems: Action[] = [
    { id: "rename", title: "Rename", keys: "r", run: () => void rename(subject) },
    { id: "fork", title: "Fork: continue in a copy", keys: "f", run: () => void fork(subject) },
    ...(isLive ? [] : [{ id: "rewind", title: "Rewind to before a turn", run: () => void rewind(subject) }]),
    ...(["markdown", "html", "json"] as const).map((format) => ({
      id: `export-${format}`,
      title: `Export as ${format === "html" ? "a page" : format === "json" ? "JSON" : "Markdown"}`,
      run: () =>
        void save(service().exportAddress(subject.conversation.ref.value!, format), subject.conversation.ref.value!.id),
    })),
  ];
  const last: Action[] = isLive ? [] : [{ id: "delete", title: "Delete", run: () => void remove(subject) }];
  return [...stopping, ...sessionItems, ...reading, ...last];
}

async function rename({ conversation, title }: Subject): Promise<void> {
  const newTitle = await askForText({ title: "Rename the session", label: "Title", value: title, yes: "Rename" });
  if (!newTitle?.trim()) return;
  await attempt(() => service().rename(conversation.ref.value!, newTitle.trim()));
  await Promise.all([loadSessions(), conversation.loadDetails()]);
}

async function fork({ conversation }: Subject): Promise<void> {
  const last = conversation.log.value.turns.at(-1)?.number ?? 1;
  const typedText = await askForText({
    title: "Fork the session",
    label: `Keep turns up to (1 to ${last})`,
    value: String(last),
    yes: "Fork",
  });
  if (typedText === undefined) return;
  const ref = conversation.ref.value!;
  const turn = Number(typedText);
  const id = await attempt(() => service().fork(ref, turn >= 1 && turn < last ? turn : undefined));
  if (id === undefined) return;
  await loadSessions();
  showMessage("This is the copy");
  navigate({ type: "session", tool: ref.tool, id, tab: "timeline" });
}

async function rewind({ conversation }: Subject): Promise<void> {
  const last = conversation.log.value.turns.at(-1)?.number ?? 1;
  const typedText = await askForText({
    title: "Rewind the conversation and the files it changed to before a turn",
    label: `Turn (1 to ${last})`,
    value: String(last),
    yes: "Rewind",
    isDangerous: true,
  });
  const turn = Number(typedText);
  if (typedText === undefined || !Number.isInteger(turn) || turn < 1) return;
  const done = await attempt(() => service().rewind(conversation.ref.value!, turn));
  if (!done) return;
  await conversation.reload();
  showMessage(`Rewound to before turn ${turn}`);
}

async function remove({ conversation, title }: Subject): Promise<void> {
  const isSure = await askToConfirm({
    title: `Delete “${title}”?`,
    text: "Its transcript and snapshots are deleted too. This cannot be undone.",
    yes: "Delete",
  });
  if (!isSure) return;
  const done = await attempt(() => service().remove(conversation.ref.value!));
  if (!done) return;
  await loadSessions();
  showMessage("Session deleted");
  navigate({ type: "home" });
}
