// Renders a question of a run: what will happen, why it asks, and which rules each answer saves. It is the most prominent element.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { fieldsOf, isObject, stringOrEmpty } from "../../json/object.ts";
import type { Answer, ChoicesQuestion, PermissionQuestion, Question, QuestionAnswer } from "../../protocol/run.ts";
import { wordsOfCall } from "../../view/call-words.ts";
import { documentText } from "../../view/document-text.ts";
import { Diff } from "./diff.tsx";
import { Code, Json } from "./text/code.tsx";
import { Markdown } from "./text/markdown.tsx";
import { usePath } from "./view-options.tsx";

/** The properties of `QuestionCard`. */
export type QuestionProps = {
  question: Question;
  onAnswer?: ((question: Question, answer: Answer) => void) | undefined;
  /** Whether it was answered on this page and will soon disappear. */
  isSent?: boolean | undefined;
  /** Whether the card above already shows the call that the question is about. */
  isInCard?: boolean;
};

/** Shows a question, and takes the answer. */
export function QuestionCard({ question, isInCard, ...rest }: QuestionProps) {
  const body = <Body question={question} isInCard={isInCard === true} {...rest} />;
  if (isInCard) return <div class="cr-question">{body}</div>;
  const target = questionTarget(question);
  return (
    <div class="cr-card cr-waiting" role="group" aria-label={`${questionTitle(question)} ${target}`.trim()}>
      <div class="cr-head">
        <b class="cr-name">{questionTitle(question)}</b>
        {target !== "" && (
          <span class="cr-target">
            <span>{target}</span>
          </span>
        )}
        <span class="cr-outcome">
          <span class="cr-said">{wishes[question.type]}</span>
        </span>
      </div>
      <div class="cr-question">
        {question.type === "permission" && <Arguments question={question} />}
        {body}
      </div>
    </div>
  );
}

/** What the run asks the reader for, by type of question. */
const wishes: Record<Question["type"], string> = {
  permission: "wants permission",
  choices: "asks",
  plan: "wants approval",
  trust: "wants to be trusted",
  server: "wants approval",
  hooks: "wants approval",
};

const titles: Record<Exclude<Question["type"], "permission">, string> = {
  choices: "Question",
  plan: "Plan",
  trust: "Trust",
  server: "MCP server",
  hooks: "Hooks",
};

function questionTitle(question: Question): string {
  if (question.type === "permission") return documentText(permissionWords(question).name);
  if (question.type === "choices") return documentText(question.title) || titles.choices;
  return question.type === "plan" ? `Plan: ${documentText(question.name)}` : titles[question.type];
}

/** Returns what the tool call acts on. */
function questionTarget(question: Question): string {
  return question.type === "permission" ? documentText(permissionWords(question).target) : "";
}

/** Maps the tool names of questions, which are those the model uses, to wire names. */
const wireNames: Record<string, string> = {
  ...{ Read: "read", Write: "edit", Edit: "edit", Delete: "delete", Shell: "shell", LS: "ls", Glob: "glob" },
  ...{ Grep: "grep", WebFetch: "webFetch", WebSearch: "webSearch" },
};

function permissionWords({ tool, args, needs: [need] }: PermissionQuestion): { name: string; target: string } {
  if (need?.kind === "Mcp") return { name: "Mcp", target: need.target.replace(":", " ") };
  return wordsOfCall(wireNames[tool] ?? tool, args, undefined);
}

/** Shows the arguments whole if the line above has no room for them, or if the tool is not built in. */
function Arguments({ question: { tool, args } }: { question: PermissionQuestion }) {
  const fields = fieldsOf(args);
  const command = stringOrEmpty(fields.command);
  const wire = wireNames[tool] ?? tool;
  if (wire === "shell")
    return /\n/.test(command.trim()) || command.length > 60 ? (
      <div class="cr-arguments">
        <Code text={command} language="bash" first={20} />
      </div>
    ) : null;
  if (Object.values(wireNames).includes(wire) || Object.keys(fields).length === 0) return null;
  return (
    <div class="cr-arguments">
      <Json value={isObject(fields.args) ? fields.args : args} />
    </div>
  );
}

function Body({ question, isInCard, ...rest }: QuestionProps) {
  switch (question.type) {
    case "permission":
      return <Permission {...rest} question={question} />;
    case "choices":
      return <Choices {...rest} question={question} />;
    case "plan":
      return (
        <YesOrNo {...rest} question={question} yes="Approve the plan" no="Change the plan…">
          {!isInCard && <Markdown text={question.text} />}
        </YesOrNo>
      );
    case "trust":
      return (
        <YesOrNo {...rest} question={question} yes="Trust this directory">
          <p>
            May the agent work in <code>{documentText(question.workspace)}</code> and follow the instructions of the
            project?
          </p>
        </YesOrNo>
      );
    case "server":
      return (
        <YesOrNo {...rest} question={question} yes="Approve the server">
          <p>
            The server <code>{documentText(question.name)}</code> of <code>{documentText(question.file)}</code> is new
            or has changed. Starting it runs <code>{documentText(question.start)}</code>.
          </p>
        </YesOrNo>
      );
    case "hooks":
      return (
        <YesOrNo {...rest} question={question} yes="Approve these hooks">
          <p>These hooks of the project are new or have changed:</p>
          <ul>
            {question.files.flatMap(({ file, hooks }) =>
              hooks.map(({ event, command, prompt }, index) => (
                <li key={`${file} ${index}`}>
                  {documentText(event)}: <code>{documentText(command ?? prompt ?? "")}</code>{" "}
                  <span class="cr-soft">{documentText(file)}</span>
                </li>
              )),
            )}
          </ul>
        </YesOrNo>
      );
  }
}

type AnsweringProps<Kind> = Omit<QuestionProps, "question"> & { question: Question & Kind };

/** A button that allows the call: its label in `words`, and the permission rules that it saves. */
type Way = { words: string; rules?: readonly string[]; answer: Answer };

/** Returns the ways to allow a call, from the narrowest to the widest. */
function waysOf(question: PermissionQuestion): Way[] {
  const { rules = [], widerRules = [], offersSandbox } = question;
  const ways: Way[] = [{ words: "Allow once", answer: { type: "yes" } }];
  if (rules.length > 0)
    ways.push(
      { words: "Allow in this session", answer: { type: "yes", grant: "run" } },
      { words: "Always allow", rules, answer: { type: "yes", grant: "project" } },
    );
  if (widerRules.length > 0 && widerRules.join() !== rules.join())
    ways.push({ words: "Always allow", rules: widerRules, answer: { type: "yes", grant: "project", wider: true } });
  if (offersSandbox)
    ways.push({
      words: "Run commands in the sandbox without asking, in this project",
      answer: { type: "yes", grant: "sandbox" },
    });
  return ways;
}

function Permission({ question, onAnswer, isSent }: AnsweringProps<PermissionQuestion>) {
  const short = usePath();
  const { reasons, diff } = question;
  return (
    <>
      <div class="cr-why">
        {reasons.map((reason) => (
          <p key={reason}>{documentText(short(reason))}</p>
        ))}
      </div>
      {diff !== undefined && diff !== "" && <Diff diff={diff} first={30} />}
      <Buttons question={question} onAnswer={onAnswer} isSent={isSent} ways={waysOf(question)} no="Deny…" />
    </>
  );
}

type YesOrNoProps = QuestionProps & { yes: string; no?: string; children: ComponentChildren };

function YesOrNo({ question, onAnswer, isSent, yes, no = "Deny…", children }: YesOrNoProps) {
  return (
    <>
      {children && <div class="cr-why">{children}</div>}
      <Buttons
        question={question}
        onAnswer={onAnswer}
        isSent={isSent}
        ways={[{ words: yes, answer: { type: "yes" } }]}
        no={no}
      />
    </>
  );
}

type ButtonsProps = {
  question: Question;
  onAnswer: QuestionProps["onAnswer"];
  isSent: boolean | undefined;
  ways: readonly Way[];
  no: string;
};

/** Shows a button for each way to say yes, and one for no, with an optional message to the agent. */
function Buttons({ question, onAnswer, isSent, ways, no }: ButtonsProps) {
  const [reason, setReason] = useState<string>();
  if (!onAnswer) return null;
  if (reason === undefined)
    return (
      <div class="cr-buttons">
        {ways.map(({ words, rules = [], answer }, index) => (
          <button
            type="button"
            key={index}
            class={index === 0 ? "cr-main" : undefined}
            disabled={isSent}
            title={rules.length > 0 ? `Saved with the rules of this project: ${rules.join(", ")}` : undefined}
            onClick={() => onAnswer(question, answer)}
          >
            {words}
            {rules.map((rule) => (
              <code key={rule}>{documentText(rule)}</code>
            ))}
          </button>
        ))}
        <button type="button" disabled={isSent} onClick={() => setReason("")}>
          {no}
        </button>
      </div>
    );
  return (
    <form
      class="cr-buttons"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(question, { type: "no", ...(reason.trim() !== "" && { reason: reason.trim() }) });
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        setReason(undefined);
      }}
    >
      <input
        type="text"
        aria-label="Why not, for the agent"
        placeholder="Why not? (sent to the agent)"
        value={reason}
        disabled={isSent}
        ref={(input) => input?.focus()}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <button type="submit" class="cr-main" disabled={isSent}>
        {no.replace("…", "")}
      </button>
      <button type="button" onClick={() => setReason(undefined)}>
        Back
      </button>
    </form>
  );
}

function Choices({ question, onAnswer, isSent }: AnsweringProps<ChoicesQuestion>) {
  const [chosen, setChosen] = useState<Record<string, readonly string[]>>({});
  const [own, setOwn] = useState<Record<string, string>>({});
  const answers: QuestionAnswer[] = question.questions.map(({ id }) => ({
    questionId: id,
    selectedOptionIds: [...(chosen[id] ?? [])],
    ...(own[id]?.trim() && { freeformText: own[id].trim() }),
  }));
  const isWhole = answers.every((each) => each.selectedOptionIds.length > 0 || each.freeformText);
  return (
    <form
      class="cr-choices"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer?.(question, { type: "choices", answers });
      }}
    >
      {question.questions.map(({ id, prompt, options, allowMultiple }, index) => (
        <fieldset key={id} disabled={isSent || !onAnswer}>
          <legend>{documentText(prompt)}</legend>
          {options.map((option) => (
            <label key={option.id}>
              <input
                type={allowMultiple ? "checkbox" : "radio"}
                name={`${documentText(question.id)}-${index}`}
                checked={chosen[id]?.includes(option.id) ?? false}
                onChange={({ currentTarget }) => {
                  const others = allowMultiple ? (chosen[id] ?? []).filter((each) => each !== option.id) : [];
                  setChosen({ ...chosen, [id]: currentTarget.checked ? [...others, option.id] : others });
                }}
              />
              <span>{documentText(option.label)}</span>
            </label>
          ))}
          <input
            type="text"
            aria-label={`Another answer: ${documentText(prompt)}`}
            placeholder="Another answer"
            value={own[id] ?? ""}
            onInput={({ currentTarget }) => setOwn({ ...own, [id]: currentTarget.value })}
          />
        </fieldset>
      ))}
      {onAnswer && (
        <div class="cr-buttons">
          <button type="submit" class="cr-main" disabled={isSent || !isWhole}>
            Answer
          </button>
          <button type="button" disabled={isSent} onClick={() => onAnswer(question, { type: "choices", answers: [] })}>
            Skip
          </button>
        </div>
      )}
    </form>
  );
}
