// QuietCalls: consecutive read-only calls as one expandable line. Calls that failed, wait, still run or show a picture are below it.
import type { ComponentChildren } from "preact";
import { isObject } from "../../../json/object.ts";
import { counted, duration } from "../../../view/numbers.ts";
import { stateOf } from "../card.tsx";
import type { ToolCall } from "../timeline/blocks.ts";
import { useOpen, useView } from "../view-options.tsx";

type Member = { id: string; call: ToolCall };
type QuietProps = { id: string; calls: readonly Member[]; draw: (member: Member) => ComponentChildren };

export function QuietCalls({ id, calls, draw }: QuietProps) {
  const { isStatic } = useView();
  const [isOpen, setOpen] = useOpen(id, false);
  const isQuiet = ({ call }: Member) => stateOf(call) === "ok" && !call.pictures;
  const done = calls.filter(isQuiet);
  const loud = calls.filter((each) => !isQuiet(each));
  return (
    <div class="cr-quiet">
      {done.length > 1 && (
        <details open={isOpen}>
          <summary
            onClick={(event) => {
              event.preventDefault();
              setOpen(!isOpen);
            }}
          >
            <span>{quietWords(done.map(({ call }) => call))}</span>
            <span class="cr-outcome">{elapsedText(done)}</span>
          </summary>
          {(isOpen || isStatic) && <div class="cr-members">{done.map(draw)}</div>}
        </details>
      )}
      {done.length === 1 && done.map(draw)}
      {loud.map(draw)}
    </div>
  );
}

/** Summarizes calls in a few words: "Read 4 files, 2 searches". */
export function quietWords(calls: readonly ToolCall[]): string {
  const of = (...tools: string[]) => calls.filter(({ tool }) => tools.includes(tool));
  const files = new Set(of("read").map(({ args }) => (isObject(args) ? args.path : undefined))).size;
  const searches = of("grep", "glob", "semSearch").length;
  const lists = of("ls").length;
  const parts = [
    files > 0 && `read ${counted(files, "file")}`,
    searches > 0 && counted(searches, "search", "searches"),
    lists > 0 && `listed ${counted(lists, "directory", "directories")}`,
  ].filter((part) => part !== false);
  const words = parts.join(", ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function elapsedText(members: readonly Member[]): string {
  const starts = members.flatMap(({ call }) => call.startedAt ?? []);
  const ends = members.flatMap(({ call }) => call.endedAt ?? []);
  const time = Math.max(...ends) - Math.min(...starts);
  return Number.isFinite(time) && time >= 100 ? duration(time) : "";
}
