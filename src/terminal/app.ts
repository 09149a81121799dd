// The app: composes transcript, questions, editor and footer into frames, and routes each key to the component that handles it.
import { basename } from "node:path";
import { exitCodeOf, UserError } from "../protocol/error-codes.ts";
import type { Prompt, Recorded, RunRequest, TurnEnding } from "../protocol/run.ts";
import { counted } from "../view/numbers.ts";
import { performAction, twiceMs } from "./actions.ts";
import type { AppParts } from "./app-parts.ts";
import { isTooEarly, sendsDraft } from "./ask/draft-keys.ts";
import { screenHuman } from "./ask/human.ts";
import { BackgroundCommands } from "./background-commands.ts";
import { terminalCopy } from "./clipboard.ts";
import { type Goal, goalAfter } from "./commands/goal.ts";
import { forgetForward } from "./commands/rewind.ts";
import { Conversation } from "./conversation.ts";
import type { Desk, Toggles } from "./desk.ts";
import type { Editor } from "./editor/editor.ts";
import { sessionView } from "./frame.ts";
import { FrameClock } from "./frame-clock.ts";
import { greetingLines } from "./greeting.ts";
import { Handover } from "./handover.ts";
import type { Key } from "./key.ts";
import { type AppAction, appAction } from "./keymap.ts";
import { complained, echoed, type Note, said, shownAsItIs } from "./notes.ts";
import type { PagerOptions } from "./pager/pager.ts";
import { nothing, type Painted, type Palette } from "./painted.ts";
import { type ListOptions, listPanel } from "./panels/list.ts";
import type { Panel } from "./panels/panel.ts";
import { PanelStack } from "./panels/panel-stack.ts";
import { pasteImages } from "./pasted-images.ts";
import { runShellCommand } from "./shell-mode.ts";
import { StatusLine } from "./status-line.ts";
import { sendNow, submitText, tryTakeBack } from "./submit.ts";
import type { Transcript } from "./transcript/index.ts";
import { recentTurns } from "./transcript/recent.ts";
import type { Rendering } from "./transcript/rendering.ts";
import type { Size, View } from "./view.ts";

export class App implements Desk {
  readonly #parts: AppParts;
  readonly palette: Palette;
  readonly conversation: Conversation;
  readonly toggles: Toggles;
  readonly program: string;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly status: StatusLine;
  readonly editor: Editor;
  #transcript: Transcript;
  readonly #clock = new FrameClock(() => this.#draw());
  readonly #panels = new PanelStack(() => this.redraw());
  readonly #handover: Handover;
  readonly #background = new BackgroundCommands(this);
  /** Renders the live output of a command that the user started. */
  #live: (columns: number) => readonly Painted[] = () => [];
  #stopLive: (() => void) | undefined;
  #hint = "";
  #hintEnds: NodeJS.Timeout | undefined;
  #opening: Promise<void> = Promise.resolve();
  #branch: string | undefined;
  #rendering: Rendering | undefined;
  goal: Goal | undefined;
  #left: (code: number) => void = () => {};
  readonly done = new Promise<number>((resolve) => {
    this.#left = resolve;
  });

  constructor(parts: AppParts) {
    this.#parts = parts;
    this.palette = parts.palette;
    this.editor = parts.editor;
    this.toggles = parts.toggles;
    this.#transcript = this.transcriptOf({ isExpanded: false, isLive: true });
    this.#handover = new Handover({
      ...parts,
      output: parts.start.output,
      drawNow: () => this.#clock.now(),
      returned: () => {
        parts.attention.renew();
        this.redraw();
      },
    });
    const { request, host } = parts.start;
    this.program = host.program;
    this.version = host.version;
    this.env = host.env;
    this.status = new StatusLine(parts.palette, host.env, () => this.redraw());
    const human = screenHuman(this, {
      asks: (callId) => {
        this.#transcript.waits(callId);
        parts.attention.asked();
      },
      answered: (callId) => {
        this.#transcript.answered(callId);
        this.#parts.attention.show("working");
      },
    });
    this.conversation = new Conversation(
      request,
      { ...host, human },
      { event: (recorded) => this.#event(recorded), changed: () => this.redraw() },
      parts.start.attachment,
    );
  }

  get size(): Size {
    return this.#parts.screen.size;
  }

  get rendering(): Rendering | undefined {
    return this.#rendering;
  }

  /** Draws the first frame, before any run is opened. */
  paint(): void {
    this.#clock.now();
  }

  /** Resolves when a run is open or could not be opened. */
  get opened(): Promise<void> {
    return this.#opening;
  }

  async begin(): Promise<void> {
    void import("./transcript/rendering.ts").then((rendering) => {
      this.#rendering = rendering;
    });
    this.status.use(this.#parts.statusLine);
    this.#opening = this.#open(this.conversation.request).then((failure) => {
      if (failure) this.#left(exitCodeOf(failure.code));
    });
    const { prompt, images = [] } = this.#parts.start;
    if (prompt !== undefined && prompt !== "") this.submit(prompt, images);
    await this.#opening;
  }

  /** Opens the run. If that fails, reports the error on the screen and returns it. */
  async #open(request: RunRequest, how?: "quietly"): Promise<UserError | undefined> {
    this.#background.stop();
    try {
      await this.conversation.open(request);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      // Print nothing if the user has just refused to trust the folder.
      if (error.code !== "UNTRUSTED") this.complain(error.message);
      return error;
    }
    this.#branch = this.#parts.branch();
    if (how !== "quietly") this.commit(greetingLines(this, { branch: this.#branch }));
    if (request.chat?.type === "resume" && !this.conversation.attachment) await this.#showHistory("before", how);
    this.#parts.attention.show("idle", basename(request.workspace));
    this.redraw();
    return undefined;
  }

  /** Whether a panel or a pager receives the keys instead of the editor. */
  get isElsewhere(): boolean {
    return this.#handover.isReading || this.#panels.front !== undefined;
  }

  press(key: Key): void {
    const before = this.#clock.lastKeyAt;
    this.#clock.keyPressed();
    this.#parts.attention.seen();
    if (this.#handover.isLent) return;
    const isElsewhere =
      this.#handover.isReading || (this.#panels.takes(before) && !(this.#isAsking && sendsDraft(key, this.editor)));
    if (isElsewhere) this.#hint = "";
    if (this.#handover.isReading) this.#handover.press(key);
    else if (isElsewhere ? this.#panels.front!.press(key) === false : !(this.#isAsking && isTooEarly(key, this.editor)))
      this.#edit(key);
    this.redraw();
  }

  get #isAsking(): boolean {
    return this.#panels.front?.isQuestion === true;
  }

  #edit(key: Key): void {
    this.#panels.unread();
    if (key.type === "key" && key.name === "up" && tryTakeBack(this)) return;
    if (key.type === "paste" && pasteImages(this, key.text)) return;
    const outcome = this.editor.press(key);
    this.#hint = outcome.type === "handled" ? "" : this.#hint;
    if (outcome.type === "submit") submitText(this, outcome);
    else if (outcome.type === "mode") this.conversation.setSkill(outcome.skill);
    else if (outcome.type === "unhandled" && key.type === "key") {
      const action = appAction(key.name);
      if (key.name === "enter") sendNow(this);
      else if (action) this.perform(action);
    }
  }

  #event(recorded: Recorded): void {
    this.#transcript.event(recorded);
    this.redraw();
    const { event, agent } = recorded;
    this.#background.event(event);
    if (agent !== undefined) return;
    if (event.type === "user") this.#parts.attention.show("working");
    if (event.type === "done" || event.type === "fail") this.#ended(event as TurnEnding);
  }

  #ended(ending: TurnEnding): void {
    this.#branch = this.#parts.branch();
    this.#parts.attention.ended(ending.durationMs);
    if (this.goal && this.conversation.queue.length === 0) this.goal = goalAfter(this.goal, ending, this);
  }

  resized(size: Size): void {
    this.#parts.screen.resize(size);
    this.redraw();
  }

  redraw(): void {
    this.#clock.request();
  }

  #draw(): void {
    if (this.#handover.isLent || !this.#parts.tty.isOurs) return;
    this.#parts.tty.readSize();
    this.#clock.animate(
      this.#transcript.tickMs !== undefined || this.conversation.isWorking || this.#live(80).length > 0,
    );
    const { screen } = this.#parts;
    if (this.#handover.isReading) this.#handover.draw();
    else {
      screen.commit(this.#transcript.takeCommitted(screen.size.columns));
      screen.draw(this.#view());
      this.#panels.drawn();
    }
  }

  #view(): View {
    const { columns } = this.size;
    return sessionView(this, {
      editor: this.editor,
      front: this.#panels.front,
      live: (rows) => [...this.#transcript.live({ columns, rows }), ...this.#live(columns).slice(-Math.max(0, rows))],
      hint: this.#hint,
      branch: this.#branch,
      background: this.#background.running.length,
      rowsAbove: this.#parts.screen.rowsAbove,
    });
  }

  commit(lines: readonly Painted[]): void {
    this.#transcript.add(() => [...lines]);
    this.redraw();
  }

  readonly say = (text: string): void => this.#note(said, text);
  readonly show = (text: string): void => this.#note(shownAsItIs, text);
  readonly complain = (text: string): void => this.#note(complained, text);
  readonly echo = (text: string): void => this.#note(echoed, text);

  #note(note: Note, text: string): void {
    this.#transcript.add((width) => note(text, this.palette, width));
    this.redraw();
  }

  open<Result>(opened: { panel: Panel; closed: Promise<Result | undefined> }): Promise<Result | undefined> {
    return this.#panels.open(opened);
  }

  choose<Value>(options: ListOptions<Value>): Promise<Value | undefined> {
    return this.open(listPanel(this.palette, options));
  }

  page(title: string, lines: (columns: number) => readonly Painted[]): Promise<void> {
    return this.read({ title, views: [{ key: "", label: "", lines }] });
  }

  readonly read = (options: PagerOptions): Promise<void> => this.#handover.read(options);
  readonly lend = <Result>(work: () => Promise<Result>): Promise<Result> => this.#handover.lend(work);
  readonly command: Desk["command"] = (words, input) => this.#parts.start.command(words, input);
  readonly interactive = (words: readonly string[]): Promise<number> =>
    this.lend(() => this.#parts.start.interactive(words));

  perform(action: AppAction): void {
    this.#hint = performAction(this, action, { isHinted: this.#hint !== "" }) ?? "";
    clearTimeout(this.#hintEnds);
    if (this.#hint === "") return;
    this.#hintEnds = setTimeout(() => {
      this.#hint = ""; // another key was pressed, so a second press no longer confirms
      this.redraw();
    }, twiceMs).unref();
  }

  async shell(command: string): Promise<void> {
    if (command === "") this.editor.setText("", { shell: true });
    else await runShellCommand(this, command);
  }

  suspend(): void {
    void this.#parts.screen.allAnswered().then(() => this.#parts.tty.suspend());
  }

  resumed(): void {
    this.#parts.attention.renew();
    this.#parts.screen.forget();
    this.redraw();
  }

  submit(text: string, images: NonNullable<Prompt["images"]> = []): void {
    void forgetForward(this);
    this.conversation.submit({ text, ...(images.length > 0 && { images }) });
  }

  write(text: string): void {
    this.editor.setText(text);
    this.redraw();
  }

  setToggle(name: keyof Toggles, isOn: boolean): void {
    this.toggles[name] = isOn;
    if (name === "vim") this.editor.setVim(isOn);
    this.redraw();
  }

  setGoal(goal: Goal | undefined): void {
    this.goal = goal;
    this.redraw();
  }

  setLive(lines: ((columns: number) => readonly Painted[]) | undefined, stop?: () => void): void {
    this.#live = lines ?? (() => []);
    this.#stopLive = stop;
    this.redraw();
  }

  /** Stops the user's own running command. Returns false if there is none. */
  stopLive(): boolean {
    this.#stopLive?.();
    return this.#stopLive !== undefined;
  }

  /** Writes the rest of the old transcript to the scrollback and starts a new one. */
  #beginTranscript(): void {
    this.#parts.screen.commit(this.#transcript.takeCommitted(this.size.columns));
    this.#transcript = this.transcriptOf({ isExpanded: false, isLive: true });
  }

  async switchTo(request: RunRequest, how?: "quietly"): Promise<boolean> {
    if (how !== "quietly") this.#beginTranscript();
    const { request: before, info } = this.conversation;
    if (!(await this.#open(request, how))) return true;
    // If the new run cannot be opened, open the previous one again.
    await this.#open({ ...before, chat: { type: "resume", id: info.chatId ?? "-1" } }, how);
    return false;
  }

  async reprint(): Promise<void> {
    this.#transcript = this.transcriptOf({ isExpanded: false, isLive: true });
    await this.#showHistory("all");
    this.redraw();
  }

  async #showHistory(part: "all" | "before", how?: "quietly"): Promise<void> {
    const { left, events } = await recentTurns(this.conversation.history(part));
    if (how === "quietly") return;
    if (left > 0) this.say(`… ${counted(left, "earlier turn")} · ctrl+o shows them`);
    for (const recorded of events) this.#transcript.event(recorded);
  }

  transcriptOf({ isExpanded, isLive }: { isExpanded: boolean; isLive?: boolean }): Transcript {
    const onChange = isLive ? () => this.redraw() : undefined;
    return this.#parts.transcript({ isExpanded, rendering: this.#rendering, onChange });
  }

  copyByTerminal(text: string): boolean {
    const sequence = terminalCopy(text);
    if (sequence !== undefined) this.#parts.start.output.write(sequence);
    return sequence !== undefined;
  }

  leave(exitCode = this.conversation.exitCode): void {
    this.#left(exitCode);
  }

  /** Stops everything and writes the closing lines above the next shell prompt. */
  async end(): Promise<void> {
    this.#clock.stop();
    this.status.stop();
    this.#panels.cancelAll();
    this.#handover.close();
    await forgetForward(this);
    const { chatId } = this.conversation.info;
    const { turn, request, attachment } = this.conversation;
    this.#background.end();
    await this.conversation.close();
    if (turn > 0) await this.#transcript.load(); // show blocks that are still waiting to be rendered
    const { screen } = this.#parts;
    screen.commit(this.#transcript.takeCommitted(this.size.columns));
    if (!attachment && chatId !== undefined && turn > 0 && !request.ephemeral)
      screen.commit([nothing, this.palette.soft(`Resume with: ${this.program} --resume ${chatId}`)]);
    await screen.allAnswered();
    screen.clear();
  }
}
