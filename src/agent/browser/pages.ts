// Manages the pages of a browser: which one is current, whether it is loading, and the actions on it.

import { isObject, type JsonObject } from "../../json/object.ts";
import { pause } from "../../model/pause.ts";
import { largestImage } from "../../protocol/image.ts";
import { type Devtools, DevtoolsError } from "./devtools.ts";
import { type ElementRef, type FrameTree, type PageSnapshot, renderSnapshot } from "./snapshot.ts";

type PageSession = {
  id: string;
  targetId: string;
  kind: "page" | "iframe";
  /** The id of the page that contains this cross-site frame. */
  page: string;
  url: string;
  isLoading: boolean;
  isReady: boolean;
};

const loadMs = 30_000;
/** The maximum width and height of a screenshot, in pixels. */
const maxPixels = 8000;
const settleMs = 15_000;
/** How many milliseconds to wait after a click for its effects to begin. */
const reactionMs = 150;

/** Removes WebRTC: a page could use it to find out the address without going through the proxy. */
const withoutPeers =
  "for (const name of ['RTCPeerConnection','webkitRTCPeerConnection','RTCDataChannel']) delete globalThis[name];";

export class Pages {
  readonly #devtools: Devtools;
  readonly #sessions = new Map<string, PageSession>();
  /** The session ids of the open pages, the newest last. */
  #pages: string[] = [];
  #elements: ReadonlyMap<string, ElementRef> = new Map();
  #refs = 0;
  #notes: string[] = [];
  #changed: () => void = () => {};
  readonly #proxy: string;
  /** The id of the browser context that the pages use. Only this context has network access, through the proxy. */
  #context = "";

  constructor(devtools: Devtools, proxy: string) {
    this.#devtools = devtools;
    this.#proxy = proxy;
    devtools.listen(({ method, params, sessionId }) => this.#handleEvent(method, params, sessionId));
  }

  /** Call this before the first page is opened, so that everything is observed from the start. */
  async begin(): Promise<void> {
    const way = { proxyServer: this.#proxy, proxyBypassList: "<-loopback>" };
    const { browserContextId } = await this.#devtools.send("Target.createBrowserContext", way);
    this.#context = String(browserContextId);
    const downloads = { behavior: "deny", eventsEnabled: true, browserContextId };
    await this.#devtools.send("Browser.setDownloadBehavior", downloads);
    await this.#autoAttach();
    await this.#devtools.send("Target.createTarget", { url: "about:blank", browserContextId });
    const isReady = () => this.#sessions.get(this.#pages[0] ?? "")?.isReady === true;
    await this.#waitUntil(isReady, loadMs, "the browser opened no page");
  }

  get url(): string {
    return this.#sessions.get(this.#pages.at(-1) ?? "")?.url ?? "about:blank";
  }

  /** Returns what happened since the last call, as sentences. */
  takeNotes(): string[] {
    return [...new Set(this.#notes.splice(0))].slice(0, 10);
  }

  /** Returns why the page could not be opened, or undefined on success. */
  async open(url: string, signal: AbortSignal): Promise<string | undefined> {
    const page = this.#page();
    page.isLoading = true;
    const { errorText } = await this.#send("Page.navigate", { url });
    if (typeof errorText === "string" && errorText !== "") {
      page.isLoading = false;
      await pause(reactionMs, signal); // a download is reported a moment after the navigation failed
      return errorText;
    }
    await this.#waitUntilSettled(loadMs, signal);
    return undefined;
  }

  async snapshot(limit: number): Promise<PageSnapshot & { title: string; url: string }> {
    const page = this.#page();
    const frames: FrameTree[] = [];
    for (const session of this.#sessions.values()) {
      if (session.page !== page.id) continue;
      for (const { id, url } of await this.#framesOf(session)) {
        const { nodes } = await this.#send("Accessibility.getFullAXTree", { frameId: id }, session.id).catch(notThere);
        if (Array.isArray(nodes)) frames.push({ sessionId: session.id, url, nodes: nodes.filter(isObject) });
      }
    }
    const rendered = renderSnapshot(frames, () => `e${++this.#refs}`, limit);
    this.#elements = rendered.elements;
    const { result } = await this.#send("Runtime.evaluate", { expression: "document.title", returnByValue: true });
    const title = isObject(result) && typeof result["value"] === "string" ? result["value"] : "";
    return { ...rendered, title, url: this.url };
  }

  async click(ref: string, signal: AbortSignal): Promise<void> {
    const { sessionId, node } = this.#resolveRef(ref);
    // An option of a closed select box has no position on the page.
    if (await this.#call(node, sessionId, chooseOption)) return this.#waitUntilSettled(settleMs, signal);
    await this.#send("DOM.scrollIntoViewIfNeeded", { backendNodeId: node }, sessionId);
    const { quads } = await this.#send("DOM.getContentQuads", { backendNodeId: node }, sessionId);
    const quad = Array.isArray(quads) ? (quads[0] as number[] | undefined) : undefined;
    if (!quad || quad.length < 8) throw new DevtoolsError(`${ref} is not visible on the page`);
    const [x, y] = [0, 1].map((axis) => [0, 2, 4, 6].reduce((sum, at) => sum + quad[at + axis]! / 4, 0));
    const at = { x, y, button: "left", clickCount: 1 };
    await this.#send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y }, sessionId);
    await this.#send("Input.dispatchMouseEvent", { ...at, type: "mousePressed", buttons: 1 }, sessionId);
    // A click may open a dialog; this is then answered only when the dialog is gone.
    await this.#send("Input.dispatchMouseEvent", { ...at, type: "mouseReleased" }, sessionId);
    await this.#waitUntilSettled(settleMs, signal);
  }

  /** Types text into a field, replacing its content. */
  async type(ref: string, text: string, submit: boolean, signal: AbortSignal): Promise<void> {
    const { sessionId, node } = this.#resolveRef(ref);
    await this.#send("DOM.scrollIntoViewIfNeeded", { backendNodeId: node }, sessionId);
    await this.#send("DOM.focus", { backendNodeId: node }, sessionId);
    if (!(await this.#call(node, sessionId, selectAll))) throw new DevtoolsError(`${ref} is not a text field`);
    if (text === "") await this.#key("Delete", 46, "", sessionId);
    else await this.#send("Input.insertText", { text }, sessionId);
    if (submit) await this.#key("Enter", 13, "\r", sessionId);
    await this.#waitUntilSettled(settleMs, signal);
  }

  /** Returns Base64; a JPEG if a PNG would be too large. */
  async screenshot(isWhole: boolean): Promise<{ mime: string; base64: string }> {
    const how = isWhole ? { captureBeyondViewport: true, clip: await this.#wholeArea() } : {};
    for (const format of ["png", "jpeg"]) {
      const { data } = await this.#send("Page.captureScreenshot", { ...how, format });
      if (typeof data === "string" && data.length < (largestImage * 4) / 3)
        return { mime: `image/${format}`, base64: data };
    }
    throw new DevtoolsError("the screenshot is too large");
  }

  async #wholeArea(): Promise<JsonObject> {
    const { cssContentSize } = await this.#send("Page.getLayoutMetrics", {});
    const { width, height } = isObject(cssContentSize) ? cssContentSize : {};
    return {
      x: 0,
      y: 0,
      width: Math.min(Number(width), maxPixels),
      height: Math.min(Number(height), maxPixels),
      scale: 1,
    };
  }

  /** Calls a function of this file on a node, and returns its result. */
  async #call(node: number, sessionId: string, functionDeclaration: string): Promise<boolean> {
    const { object } = await this.#send("DOM.resolveNode", { backendNodeId: node }, sessionId);
    const objectId = isObject(object) ? object["objectId"] : undefined;
    const how = { objectId, functionDeclaration, returnByValue: true, userGesture: true };
    const { result } = await this.#send("Runtime.callFunctionOn", how, sessionId);
    return isObject(result) && result["value"] === true;
  }

  async #key(key: string, code: number, text: string, sessionId: string): Promise<void> {
    const event = { key, code: key, windowsVirtualKeyCode: code, ...(text !== "" && { text }) };
    await this.#send("Input.dispatchKeyEvent", { ...event, type: text === "" ? "rawKeyDown" : "keyDown" }, sessionId);
    await this.#send(
      "Input.dispatchKeyEvent",
      { key, code: key, windowsVirtualKeyCode: code, type: "keyUp" },
      sessionId,
    );
  }

  #resolveRef(ref: string): ElementRef {
    const element = this.#elements.get(ref.trim().replace(/^\[?(?:ref=)?|\]$/g, ""));
    if (!element || !this.#sessions.has(element.sessionId))
      throw new DevtoolsError(`${JSON.stringify(ref.slice(0, 40))} is not on the current page: take a snapshot`);
    return element;
  }

  #page(): PageSession {
    const page = this.#sessions.get(this.#pages.at(-1) ?? "");
    if (!page) throw new DevtoolsError("no page is open");
    return page;
  }

  #send(method: string, params: JsonObject, sessionId = this.#page().id): Promise<JsonObject> {
    return this.#devtools.send(method, params, sessionId);
  }

  /** Returns frames of the same site; cross-site frames have their own sessions. */
  async #framesOf({ id, url }: PageSession): Promise<{ id: string; url: string }[]> {
    const { frameTree } = await this.#devtools.send("Page.getFrameTree", {}, id).catch(notThere);
    const frames: { id: string; url: string }[] = [];
    const visit = (tree: unknown): void => {
      if (!isObject(tree) || !isObject(tree["frame"])) return;
      frames.push({ id: String(tree["frame"]["id"]), url: String(tree["frame"]["url"] ?? url) });
      if (Array.isArray(tree["childFrames"])) tree["childFrames"].forEach(visit);
    };
    visit(frameTree);
    const session = this.#sessions.get(id);
    if (session && frames[0]) session.url = frames[0].url;
    return frames;
  }

  async #waitUntilSettled(ms: number, signal: AbortSignal): Promise<void> {
    await pause(reactionMs, signal);
    const calm = () => {
      const page = this.#sessions.get(this.#pages.at(-1) ?? "");
      return page === undefined || (page.isReady && !page.isLoading);
    };
    await this.#waitUntil(calm, ms, "", signal);
    await pause(reactionMs, signal);
  }

  /** Waits until `holds` returns true. On timeout, throws if `why` is given, otherwise continues with a note. */
  async #waitUntil(holds: () => boolean, ms: number, why: string, signal?: AbortSignal): Promise<void> {
    const deadline = Date.now() + ms;
    while (!holds()) {
      signal?.throwIfAborted();
      if (Date.now() > deadline) {
        if (why !== "") throw new DevtoolsError(why);
        this.#notes.push(`The page was still loading after ${ms / 1000} s.`);
        return;
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 250);
        this.#changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async #autoAttach(sessionId?: string): Promise<void> {
    const how = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };
    await this.#devtools.send("Target.setAutoAttach", how, sessionId);
  }

  #handleEvent(method: string, params: JsonObject, sessionId: string | undefined): void {
    const session = sessionId === undefined ? undefined : this.#sessions.get(sessionId);
    switch (method) {
      case "Target.attachedToTarget":
        this.#onAttached(params, sessionId);
        break;
      case "Target.detachedFromTarget":
        this.#onTargetGone(String(params["sessionId"]));
        break;
      case "Page.frameStartedLoading":
      case "Page.frameStoppedLoading":
        if (session && params["frameId"] === session.targetId)
          session.isLoading = method === "Page.frameStartedLoading";
        break;
      case "Page.frameNavigated": {
        const frame = params["frame"];
        if (session && isObject(frame) && frame["parentId"] === undefined) session.url = String(frame["url"]);
        break;
      }
      case "Page.navigatedWithinDocument":
        if (session && params["frameId"] === session.targetId) session.url = String(params["url"]);
        break;
      case "Page.javascriptDialogOpening": {
        const { type, message } = params;
        // JavaScript dialogs are dismissed, except the question whether to leave a page, which is accepted.
        const accept = type === "beforeunload";
        this.#notes.push(
          `The page showed a dialog (${String(type)}), which was ${accept ? "accepted" : "dismissed"}: ${JSON.stringify(String(message).slice(0, 200))}`,
        );
        this.#devtools.send("Page.handleJavaScriptDialog", { accept }, sessionId).catch(() => {});
        break;
      }
      case "Page.fileChooserOpened":
        this.#notes.push("The page asked for a file, and got none.");
        break;
      case "Browser.downloadWillBegin":
        this.#notes.push(`A download was refused: ${String(params["url"]).slice(0, 200)}`);
        break;
      case "Inspector.targetCrashed":
        this.#notes.push("The page crashed.");
        break;
      default:
        return;
    }
    this.#changed();
  }

  /** Prepares a new page or frame, which is paused until then. Other targets, such as workers, continue at once. */
  #onAttached(params: JsonObject, parent: string | undefined): void {
    const id = String(params["sessionId"]);
    const target = isObject(params["targetInfo"]) ? params["targetInfo"] : {};
    const resumeTarget = () => this.#devtools.send("Runtime.runIfWaitingForDebugger", {}, id).catch(() => {});
    const kind = target["type"];
    if ((kind !== "page" && kind !== "iframe") || target["browserContextId"] !== this.#context) {
      void resumeTarget();
      return;
    }
    const page = kind === "page" ? id : (this.#sessions.get(parent ?? "")?.page ?? id);
    const session: PageSession = {
      id,
      targetId: String(target["targetId"]),
      kind,
      page,
      url: String(target["url"] ?? ""),
      isLoading: false,
      isReady: false,
    };
    this.#sessions.set(id, session);
    // Send these commands in this order without awaiting each reply: a paused page answers some of them only after it
    // continues.
    const prepared = [
      this.#devtools.send("Page.enable", {}, id),
      this.#devtools.send("Page.addScriptToEvaluateOnNewDocument", { source: withoutPeers }, id),
      this.#devtools.send("Page.setInterceptFileChooserDialog", { enabled: true }, id).catch(() => {}),
      this.#autoAttach(id),
      resumeTarget(),
    ];
    if (kind === "page") this.#pages.push(id);
    Promise.all(prepared).then(
      () => {
        session.isReady = true;
        this.#changed();
      },
      () => this.#onTargetGone(id), // the page closed before it was prepared
    );
  }

  #onTargetGone(id: string): void {
    this.#sessions.delete(id);
    this.#pages = this.#pages.filter((page) => page !== id);
    this.#changed();
  }
}

/** Ignores the error of a command that was sent to a page which may be closed by now. */
function notThere(error: unknown): JsonObject {
  if (error instanceof DevtoolsError) return {};
  throw error;
}

const selectAll = `function () {
  if (typeof this.select === "function") this.select();
  else if (this.isContentEditable) getSelection().selectAllChildren(this);
  else return false;
  return true;
}`;

const chooseOption = `function () {
  const list = this instanceof HTMLOptionElement ? this.closest("select") : null;
  if (!list || list.disabled || this.disabled) return false;
  if (list.multiple) this.selected = !this.selected;
  else list.value = this.value, this.selected = true;
  for (const name of ["input", "change"]) list.dispatchEvent(new Event(name, { bubbles: true }));
  return true;
}`;
