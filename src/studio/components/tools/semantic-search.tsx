// SemanticSearchTool: hits with their path, their lines and the code found there.
import { fieldsOf, stringOrEmpty } from "../../../json/object.ts";
import { documentText } from "../../../view/document-text.ts";
import { decodeEntities } from "../../../view/entities.ts";
import { counted } from "../../../view/numbers.ts";
import { Card, type ToolProps } from "../card.tsx";
import { Ansi } from "../text/ansi.tsx";
import { Code, languageForPath } from "../text/code.tsx";
import { Folded } from "../text/folded.tsx";
import { usePath } from "../view-options.tsx";

/** Shows a search by meaning. */
export function SemanticSearchTool(props: ToolProps) {
  const results = stringOrEmpty(fieldsOf(props.call.outcome?.value).results);
  const hits = hitsIn(results);
  return (
    <Card {...props} outcome={results === "" ? undefined : counted(hits.length, "hit")}>
      {hits.length > 0 && (
        <Folded items={hits} first={6} noun="hit" draw={(hit, index) => <SearchHit key={index} hit={hit} />} />
      )}
      {hits.length === 0 && results.trim() !== "" && <Ansi text={results} />}
    </Card>
  );
}

type Hit = { path: string; start: number | undefined; end: number | undefined; code: string };

function hitsIn(results: string): Hit[] {
  return [...results.matchAll(/<search_result\b([^>]*)>([\s\S]*?)<\/search_result>/g)].map(
    ([, attributes = "", code = ""]) => ({
      path: attribute(attributes, "path") ?? "",
      start: Number(attribute(attributes, "startLine")) || undefined,
      end: Number(attribute(attributes, "endLine")) || undefined,
      code: code.replace(/^\n|\n$/g, ""),
    }),
  );
}

function attribute(text: string, name: string): string | undefined {
  const found = new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1];
  return found === undefined ? undefined : decodeEntities(found);
}

function SearchHit({ hit: { path, start, end, code } }: { hit: Hit }) {
  const short = usePath();
  return (
    <div class="cr-matches">
      <p class="cr-file">
        {documentText(short(path))}
        {start !== undefined && <span class="cr-soft">{end === undefined ? `:${start}` : `:${start}–${end}`}</span>}
      </p>
      {code.trim() !== "" && (
        <Code text={code} language={languageForPath(path)} {...(start !== undefined && { start })} first={12} />
      )}
    </div>
  );
}
