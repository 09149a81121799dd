// Actions available everywhere: keys, palette and help use the same table.
import { useEffect } from "preact/hooks";
import { questions, sessions } from "../state/app.ts";
import { type Action, offerActions } from "../state/keys.ts";
import { isPaletteOpen, showMessage } from "../state/layout.ts";
import { navigate, place } from "../state/router.ts";
import { nextTheme, theme } from "../state/theme.ts";
import { moveInList } from "./sidebar.tsx";

export function useGlobalActions(): void {
  useEffect(() => offerActions("page", globalActions()), []);
}

function globalActions(): Action[] {
  return [
    { id: "palette", title: "Find anything", keys: "⌘K", run: () => (isPaletteOpen.value = true), isKeyOnly: true },
    { id: "help", title: "Keys", keys: "?", run: () => (isPaletteOpen.value = true), isKeyOnly: true },
    { id: "new", title: "New run", keys: "n", run: () => navigate({ type: "new" }) },
    { id: "inbox", title: "Inbox: questions waiting for an answer", keys: "i", run: () => navigate({ type: "inbox" }) },
    { id: "search", title: "Search sessions", keys: "/", run: focusSearch },
    { id: "next-item", title: "Next session in the list", keys: "j", run: () => moveInList(1), isKeyOnly: true },
    {
      id: "previous-item",
      title: "Previous session in the list",
      keys: "k",
      run: () => moveInList(-1),
      isKeyOnly: true,
    },
    { id: "board", title: "Board", keys: "b", run: () => navigate({ type: "home" }) },
    { id: "settings", title: "Settings", keys: ",", run: () => navigate({ type: "settings" }) },
    { id: "next", title: "Next session", keys: "J", run: () => stepThroughList(1) },
    { id: "previous", title: "Previous session", keys: "K", run: () => stepThroughList(-1) },
    {
      id: "theme",
      title: "Light, dark, as the system",
      keys: "t",
      run() {
        nextTheme();
        showMessage(theme.value === "system" ? "Colours: as the system" : `Colours: ${theme.value}`);
      },
    },
  ];
}

function focusSearch(): void {
  const fields = [...document.querySelectorAll<HTMLInputElement>("input[type=search]")];
  (fields.find((field) => field.offsetParent !== null) ?? fields[0])?.focus();
}

function stepThroughList(by: number): void {
  const list = sessions.value ?? [];
  if (list.length === 0) return;
  const here = place.value;
  const at = here.type === "session" ? list.findIndex(({ id }) => id === here.id) : -1;
  const next = list[Math.max(0, Math.min(list.length - 1, at + by))];
  if (next) navigate({ type: "session", tool: next.tool, id: next.id, tab: "timeline" });
  else if (questions.value.length > 0) navigate({ type: "inbox" });
}
