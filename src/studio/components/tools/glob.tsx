// GlobTool: the files whose names match.
import { fieldsOf } from "../../../json/object.ts";
import { documentText } from "../../../view/document-text.ts";
import { Card, type ToolProps } from "../card.tsx";
import { Folded } from "../text/folded.tsx";
import { usePath } from "../view-options.tsx";

/** Shows a search for files. */
export function GlobTool(props: ToolProps) {
  const { files, clientTruncated, ripgrepTruncated } = fieldsOf(props.call.outcome?.value);
  const paths = Array.isArray(files) ? files.filter((each) => typeof each === "string") : [];
  return (
    <Card {...props}>
      {paths.length > 0 && <Paths paths={paths} />}
      {(clientTruncated === true || ripgrepTruncated === true) && <p class="cr-note">There are more results.</p>}
    </Card>
  );
}

export function Paths({ paths }: { paths: readonly string[] }) {
  const short = usePath();
  return (
    <ul class="cr-paths">
      <Folded
        items={paths}
        first={20}
        noun="file"
        draw={(path, index) => <li key={index}>{documentText(short(path))}</li>}
      />
    </ul>
  );
}
