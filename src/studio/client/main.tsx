// Entry point of the studio's page: takes the token, connects to the service and renders the app.
import { render } from "preact";
import { takeToken } from "./service/token.ts";
import { watchActivity } from "./state/activity.ts";
import { connect } from "./state/app.ts";
import { watchKeys } from "./state/keys.ts";
import { isPaletteOpen } from "./state/layout.ts";
import { watchLinks } from "./state/router.ts";
import "./state/theme.ts";
import "../components/components.css";
import "./style/index.css";
import { App, NoKey } from "./views/app.tsx";

const root = document.getElementById("app")!;
const token = takeToken();

if (token === undefined) render(<NoKey />, root);
else {
  connect(token);
  watchActivity();
  watchLinks();
  watchKeys(() => (isPaletteOpen.value = true));
  render(<App />, root);
}
