// The page layout: one to three columns, and the overlays above them.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { connection } from "../state/app.ts";
import { isPaletteOpen, shownSheet } from "../state/layout.ts";
import { type Place, place } from "../state/router.ts";
import { useGlobalActions } from "./global-actions.ts";
import { lazyComponent } from "./lazy.tsx";
import { Palette } from "./palette.tsx";
import { Sheet } from "./sheet.tsx";
import { Sidebar } from "./sidebar.tsx";
import { Toasts } from "./toasts.tsx";
import { TopBar } from "./top-bar.tsx";

const Home = lazyComponent(() => import("./home.tsx").then(({ Home }) => Home));
const Inbox = lazyComponent(() => import("./home.tsx").then(({ Inbox }) => Inbox));
const Settings = lazyComponent(() => import("./settings.tsx").then(({ Settings }) => Settings));
const Compare = lazyComponent(() => import("./more.ts").then(({ Compare }) => Compare));
const ConversationView = lazyComponent(() =>
  import("./conversation.tsx").then(({ ConversationView }) => ConversationView),
);

export function App() {
  useGlobalActions();
  if (connection.value === "refused") return <NoKey />;
  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <nav class="pane left" aria-label="Sessions">
        <Sidebar />
      </nav>
      <Lost />
      <Main where={place.value} />
      <Sheet name="sessions" title="Sessions">
        {shownSheet.value === "sessions" && <Sidebar inSheet />}
      </Sheet>
      {isPaletteOpen.value && <Palette />}
      <Toasts />
    </div>
  );
}

function Main({ where }: { where: Place }) {
  switch (where.type) {
    case "home":
    case "new":
      return <Home isNew={where.type === "new"} />;
    case "inbox":
      return <Inbox />;
    case "settings":
      return <Settings />;
    case "compare":
      return <Compare sessions={where.sessions} />;
    case "unknown":
      return <Unknown />;
    case "session":
      return <ConversationView key={`session-${where.tool}-${where.id}`} where={where} />;
    case "run":
      return <ConversationView key={`run-${where.id}`} where={where} />;
  }
}

function Unknown() {
  return (
    <main id="main" class="middle" tabIndex={-1}>
      <TopBar />
      <div class="empty">
        <h1>There is nothing at this address</h1>
        <p>
          The session may have been deleted, or the link is not whole: <code>{location.pathname}</code>
        </p>
        <p class="buttons">
          <a class="button" href="/">
            To the board
          </a>
        </p>
      </div>
    </main>
  );
}

/** Shown only if the connection stays lost, since a restart of the service takes just a moment. */
function Lost() {
  const isLong = useSignal(false);
  const isLost = connection.value === "lost";
  useEffect(() => {
    if (!isLost) {
      isLong.value = false;
      return;
    }
    const timer = setTimeout(() => {
      isLong.value = true;
    }, 700);
    return () => clearTimeout(timer);
  }, [isLost]);
  if (!isLost || !isLong.value) return null;
  return (
    <div class="lost" role="status">
      The service does not answer; the page reconnects by itself. Runs go on. To start it: <code>courser studio</code>
    </div>
  );
}

export function NoKey() {
  return (
    <main class="whole">
      <div class="empty">
        <h1>This page needs its key</h1>
        <p>The key is passed on when the studio is opened, and kept only in that tab. Type this in a terminal:</p>
        <pre class="command">courser studio</pre>
      </div>
    </main>
  );
}
