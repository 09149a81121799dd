// One change of a file in a review: its diff, and the comments on lines.
import { useSignal } from "@preact/signals";
import type { FileChange } from "../../../serve/api.ts";
import { Diff, type LineOfDiff } from "../../components/diff.tsx";
import { languageForPath } from "../../components/text/code.tsx";
import type { Comment } from "../model/comments.ts";

export type Step = FileChange["steps"][number];

type ChangeStepProps = {
  path: string;
  step: Step;
  /** Whether commands made some of the changes in this file. */
  isMixed: boolean;
  comments: readonly Comment[];
  writing: LineOfDiff | undefined;
  onWrite(line: LineOfDiff | undefined): void;
  onComment(line: LineOfDiff, text: string): void;
  onDrop(comment: Comment): void;
};

export function ChangeStep({ path, step, isMixed, comments, writing, onWrite, onComment, onDrop }: ChangeStepProps) {
  if (step.kind === "delete")
    return <p class="soft changed-note">Deleted in turn {step.turn}. Rewind brings it back.</p>;
  const note = step.kind === "command" ? noteOf(step) : isMixed ? `By an edit in turn ${step.turn}.` : undefined;
  if (step.diff === null || step.isGone)
    return <p class="soft changed-note">{step.kind === "command" ? note : "What changed here was not recorded."}</p>;
  const below = (line: LineOfDiff) => {
    const lineComments = comments.filter((each) => each.line === line.number && each.code === line.text);
    const isWriting = writing?.number === line.number && writing.text === line.text;
    if (lineComments.length === 0 && !isWriting) return null;
    return (
      <div class="comments">
        {lineComments.map((comment) => (
          <p key={comment.text} class="comment">
            {comment.text}
            <button type="button" class="quiet" aria-label="Remove this comment" onClick={() => onDrop(comment)}>
              ✕
            </button>
          </p>
        ))}
        {isWriting && <CommentField onEnd={(text) => (text ? onComment(line, text) : onWrite(undefined))} />}
      </div>
    );
  };
  return (
    <>
      {note && <p class="soft changed-note">{note}</p>}
      <Diff diff={step.diff} language={languageForPath(path)} onLine={onWrite} below={below} />
    </>
  );
}

/** Describes a change by a command; snapshots show what commands did and in which turn. */
function noteOf({ turn, diff, isGone, isLater }: Step): string {
  if (isLater) return isGone ? "Deleted since the session ended." : "Changed on the disk since the session ended.";
  if (isGone) return `Deleted by a command in turn ${turn}.`;
  const what = diff === null ? "Changed by a command in turn" : "By a command in turn";
  const rest = diff === null ? "; it is not text, or too large to be shown" : "";
  return `${what} ${turn}${rest}.`;
}

function CommentField({ onEnd }: { onEnd(text: string): void }) {
  const text = useSignal("");
  return (
    <form
      class="comment-field"
      onSubmit={(event) => {
        event.preventDefault();
        onEnd(text.value.trim());
      }}
    >
      <textarea
        rows={2}
        aria-label="Comment on this line"
        placeholder="What about this line? (for the agent)"
        ref={(field) => {
          if (field && text.peek() === "") field.focus();
        }}
        onInput={(event) => (text.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onEnd("");
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) onEnd(text.value.trim());
        }}
      />
      <button type="button" onClick={() => onEnd("")}>
        Cancel
      </button>
      <button type="submit" class="main" disabled={text.value.trim() === ""}>
        Comment
      </button>
    </form>
  );
}
