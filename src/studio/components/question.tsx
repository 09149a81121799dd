// A question of a run: what will happen, why it is asked, and what each answer writes down. The loudest thing on the page.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Answer, ChoicesQuestion, PermissionQuestion, Question, QuestionAnswer } from "../../protocol/run.ts";
import { wordsOfCall } from "../../view/call-words.ts";
import { documentText } from "../../view/document-text.ts";
import { Diff } from "./diff.tsx";
import { Markdown } from "./text/markdown.tsx";
import { usePath } from "./view-options.tsx";

export type QuestionProps = {
  question: Question;
  onAnswer?: ((question: Question, answer: Answer) => void) | undefined;
  /** It was answered here, and has not gone yet. */
  isSent?: boolean;
  /** The call above it says what it is about. */
  isInCard?: boolean;
};

export function QuestionCard({ question, isInCard, ...rest }: QuestionProps) {
  const body = <Body question={question} {...rest} />;
  if (isInCard) return <div class="cr-question">{body}</div>;
  const target = targetOf(question);
  return (
    <div class="cr-card cr-waiting" role="group" aria-label={`${titleOf(question)} ${target}`.trim()}>
      <div class="cr-head">
        <b class="cr-name">{titleOf(question)}</b>
        {target !== "" && (
          <span class="cr-target">
            <span>{target}</span>
          </span>
        )}
        <span class="cr-outcome">
          <span class="cr-said">{question.type === "permission" ? "wants permission" : "waits for you"}</span>
        </span>
      </div>
      <div class="cr-question">{body}</div>
    </div>
  );
}

const titles: Record<Exclude<Question["type"], "permission">, string> = {
  choices: "Question",
  plan: "Plan",
  trust: "Trust",
  server: "MCP server",
  hooks: "Hooks",
};

function titleOf(question: Question): string {
  if (question.type === "permission") return documentText(wordsOfCall(question.tool, question.args, undefined).name);
  if (question.type === "choices") return documentText(question.title) || titles.choices;
  return question.type === "plan" ? `Plan: ${documentText(question.name)}` : titles[question.type];
}

/** What a call is done to. */
function targetOf(question: Question): string {
  if (question.type !== "permission") return "";
  return documentText(wordsOfCall(question.tool, question.args, undefined).target);
}

function Body({ question, ...rest }: QuestionProps) {
  switch (question.type) {
    case "permission":
      return <Permission {...rest} question={question} />;
    case "choices":
      return <Choices {...rest} question={question} />;
    case "plan":
      return (
        <YesOrNo {...rest} question={question} yes="Accept">
          <Markdown text={question.text} />
        </YesOrNo>
      );
    case "trust":
      return (
        <YesOrNo {...rest} question={question} yes="Trust">
          <p>
            May the agent work in <code>{documentText(question.workspace)}</code> and follow the instructions of the
            project?
          </p>
        </YesOrNo>
      );
    case "server":
      return (
        <YesOrNo {...rest} question={question} yes="Approve">
          <p>
            The server <code>{documentText(question.name)}</code> of <code>{documentText(question.file)}</code> is new
            or has changed. Starting it runs <code>{documentText(question.start)}</code>.
          </p>
        </YesOrNo>
      );
    case "hooks":
      return (
        <YesOrNo {...rest} question={question} yes="Approve">
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

function Permission({ question, onAnswer, isSent }: AnsweringProps<PermissionQuestion>) {
  const short = usePath();
  const { reasons, rules = [], offersSandbox, diff } = question;
  return (
    <>
      <div class="cr-why">
        {reasons.map((reason) => (
          <p key={reason}>{documentText(short(reason))}</p>
        ))}
        {rules.length > 0 && (
          <p>
            Always would add{" "}
            {rules.map((rule, index) => (
              <>
                {index > 0 && ", "}
                <code>{documentText(rule)}</code>
              </>
            ))}{" "}
            to this project.
          </p>
        )}
      </div>
      {diff !== undefined && diff !== "" && <Diff diff={diff} first={30} />}
      <Buttons question={question} onAnswer={onAnswer} isSent={isSent}>
        {offersSandbox && (
          <button
            type="button"
            disabled={isSent}
            title="Run commands in the sandbox without asking, in this project"
            onClick={() => onAnswer?.(question, { type: "yes", grant: "sandbox" })}
          >
            Sandbox, without asking
          </button>
        )}
        {rules.length > 0 && (
          <>
            <button type="button" disabled={isSent} onClick={() => onAnswer?.(question, { type: "yes", grant: "run" })}>
              This session
            </button>
            <button
              type="button"
              disabled={isSent}
              onClick={() => onAnswer?.(question, { type: "yes", grant: "project" })}
            >
              Always
            </button>
          </>
        )}
        <button type="button" class="cr-main" disabled={isSent} onClick={() => onAnswer?.(question, { type: "yes" })}>
          Once
        </button>
      </Buttons>
    </>
  );
}

function YesOrNo({
  question,
  onAnswer,
  isSent,
  yes,
  children,
}: QuestionProps & { yes: string; children: ComponentChildren }) {
  return (
    <>
      <div class="cr-why">{children}</div>
      <Buttons question={question} onAnswer={onAnswer} isSent={isSent}>
        <button type="button" class="cr-main" disabled={isSent} onClick={() => onAnswer?.(question, { type: "yes" })}>
          {yes}
        </button>
      </Buttons>
    </>
  );
}

type ButtonsProps = {
  question: Question;
  onAnswer: QuestionProps["onAnswer"];
  isSent: boolean | undefined;
  children: ComponentChildren;
};

/** No, with words that the agent is told; and the ways to say yes. */
function Buttons({ question, onAnswer, isSent, children }: ButtonsProps) {
  const [reason, setReason] = useState<string>();
  if (!onAnswer) return null;
  if (reason === undefined)
    return (
      <div class="cr-buttons">
        <button type="button" disabled={isSent} onClick={() => setReason("")}>
          No…
        </button>
        {children}
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
      <button type="button" onClick={() => setReason(undefined)}>
        Back
      </button>
      <button type="submit" class="cr-main" disabled={isSent}>
        No
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
              {documentText(option.label)}
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
          <button type="button" disabled={isSent} onClick={() => onAnswer(question, { type: "choices", answers: [] })}>
            Skip
          </button>
          <button type="submit" class="cr-main" disabled={isSent || !isWhole}>
            Answer
          </button>
        </div>
      )}
    </form>
  );
}
