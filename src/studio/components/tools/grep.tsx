// GrepTool: matches by file, with the matched text marked.
import { fieldsOf, isObject, type JsonObject, objectsIn, stringOrEmpty } from "../../../json/object.ts";
import { tryOr } from "../../../text/try-or.ts";
import { documentText } from "../../../view/document-text.ts";
import { Card, type ToolProps } from "../card.tsx";
import { Ansi } from "../text/ansi.tsx";
import { Folded } from "../text/folded.tsx";
import { usePath } from "../view-options.tsx";
import { Paths } from "./glob.tsx";

/** Shows a search in files. */
export function GrepTool(props: ToolProps) {
  const { workspaceResults, content } = fieldsOf(props.call.outcome?.value);
  const pattern = matchPattern(fieldsOf(props.call.args));
  const results = Object.values(fieldsOf(workspaceResults)).filter(isObject);
  const files = results.flatMap((each) =>
    Array.isArray(fieldsOf(each.files).files) ? (fieldsOf(each.files).files as unknown[]) : [],
  );
  const counts = results.flatMap((each) => objectsIn(fieldsOf(each.count).counts));
  const matches = results.flatMap((each) => objectsIn(fieldsOf(each.content).matches));
  return (
    <Card {...props}>
      {matches.length > 0 && (
        <Folded
          items={matches}
          first={8}
          noun="file"
          draw={(file, index) => <FileMatches key={index} file={file} pattern={pattern} />}
        />
      )}
      {files.length > 0 && <Paths paths={files.map(stringOrEmpty)} />}
      {counts.length > 0 && (
        <Paths paths={counts.map(({ file, count }) => `${stringOrEmpty(file)}  ${Number(count)}`)} />
      )}
      {results.length === 0 && stringOrEmpty(content) !== "" && <Ansi text={stringOrEmpty(content)} />}
    </Card>
  );
}

function FileMatches({ file, pattern }: { file: JsonObject; pattern: RegExp | undefined }) {
  const short = usePath();
  return (
    <div class="cr-matches">
      <p class="cr-file">{documentText(short(stringOrEmpty(file.file).replace(/^\.\//, "")))}</p>
      <pre class="cr-code">
        <Folded
          items={objectsIn(file.matches)}
          first={12}
          noun="line"
          draw={(match, index) => (
            <span
              key={index}
              class={`cr-line${match.isContextLine === true ? " cr-soft" : ""}`}
              data-line={typeof match.lineNumber === "number" ? match.lineNumber : undefined}
            >
              {match.isContextLine === true
                ? documentText(stringOrEmpty(match.content))
                : markMatches(documentText(stringOrEmpty(match.content)), pattern)}
              {match.contentTruncated === true && <span class="cr-soft">…</span>}
              {"\n"}
            </span>
          )}
        />
      </pre>
    </div>
  );
}

/** The line length above which matches are not marked. */
const maxLine = 500;

function markMatches(line: string, pattern: RegExp | undefined) {
  if (!pattern || line.length > maxLine) return line;
  const parts = [];
  let at = 0;
  for (const found of line.matchAll(pattern)) {
    if (found[0] === "") continue;
    parts.push(line.slice(at, found.index), <mark>{found[0]}</mark>);
    at = found.index + found[0].length;
  }
  return [...parts, line.slice(at)];
}

/**
 * Compiles the pattern of a search to highlight its matches. The search used another engine, but most patterns mean the same here. This
 * engine backtracks, so patterns with many alternatives or a repeated group are not highlighted.
 */
function matchPattern({ pattern, caseInsensitive }: JsonObject): RegExp | undefined {
  const source = stringOrEmpty(pattern);
  const ways = source.match(/[*+?{(]/g)?.length ?? 0;
  if (source === "" || source.length > 200 || ways > 2 || /\)[*+?{]/.test(source)) return undefined;
  return tryOr(() => new RegExp(source, caseInsensitive === true ? "gi" : "g"), undefined);
}
