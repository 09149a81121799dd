// Who is logged in: whether the chosen model can be asked, and where its key comes from.
import { UserError } from "../../protocol/error-codes.ts";
import type { Invocation } from "../main.ts";
import { writeStderr } from "../stdout.ts";
import { answer, answerJson, wantsJson } from "./answer.ts";
import { chosenModel, keySource } from "./chosen-model.ts";

type LoginStatus =
  | { loggedIn: true; who: string; source: string | null; hasKey: boolean; model: string }
  | { loggedIn: false; model: string; message: string };

/** Exits 0 either way: programs read the line, or `isAuthenticated`. */
export async function status(invocation: Invocation): Promise<number> {
  const login = loginOf(invocation);
  if (wantsJson(invocation)) return answerJson(statusJson(login));
  if (login.loggedIn) return answer(`✓ Logged in as ${login.who} (${login.source ?? login.model})\n`);
  const exitCode = await answer("Not logged in\n");
  writeStderr(`${login.message}\n`);
  return exitCode;
}

function loginOf(invocation: Invocation): LoginStatus {
  const { model, named, choice } = chosenModel(invocation);
  if (model instanceof UserError) return { loggedIn: false, model: named ?? "auto", message: model.message };
  const source = keySource(model, choice);
  if (source !== undefined) return { loggedIn: true, who: model.vendor, source, hasKey: true, model: model.id };
  // The offline model stands in where nothing was chosen; only who names it means it.
  if (model.kind === "offline" && named === undefined) {
    const { name } = invocation;
    return {
      loggedIn: false,
      model: model.id,
      message: `No API key is set for any vendor. Type: ${name} login anthropic, or export ANTHROPIC_API_KEY=<key>. Without one the offline model answers.`,
    };
  }
  return { loggedIn: true, who: model.local ? "local" : model.vendor, source: null, hasKey: false, model: model.id };
}

function statusJson(login: LoginStatus): object {
  const { loggedIn, model } = login;
  return {
    status: loggedIn ? "authenticated" : "unauthenticated",
    isAuthenticated: loggedIn,
    hasAccessToken: loggedIn && login.hasKey,
    hasRefreshToken: false,
    ...(loggedIn ? { userInfo: { userId: login.who } } : { message: login.message }),
    vendor: loggedIn ? login.who : null,
    source: loggedIn ? login.source : null,
    model,
  };
}
