// ListTool: a directory as a tree.
import { fieldsOf, type JsonObject, objectsIn, stringOrEmpty } from "../../../json/object.ts";
import { documentText } from "../../../view/document-text.ts";
import { Card, type ToolProps } from "../card.tsx";
import { Ansi } from "../text/ansi.tsx";
import { Folded } from "../text/folded.tsx";

/** Shows a listing. */
export function ListTool(props: ToolProps) {
  const { directoryTreeRoot, content } = fieldsOf(props.call.outcome?.value);
  const rows = listingRows(fieldsOf(directoryTreeRoot), 0);
  return (
    <Card {...props}>
      {rows.length > 0 ? (
        <ul class="cr-tree">
          <Folded
            items={rows}
            first={40}
            noun="entry"
            nouns="entries"
            draw={(row, index) => <Entry key={index} {...row} />}
          />
        </ul>
      ) : (
        // Other agents report a listing as text.
        stringOrEmpty(content) !== "" && <Ansi text={stringOrEmpty(content)} />
      )}
    </Card>
  );
}

type Row = { name: string; depth: number; isFolder: boolean; isCut?: boolean };

const maxDepth = 12;

function listingRows(node: JsonObject, depth: number): Row[] {
  if (depth > maxDepth) return [];
  const folders = objectsIn(node.childrenDirs).flatMap((folder) => [
    {
      name: stringOrEmpty(folder.absPath).replace(/^.*\//, ""),
      depth,
      isFolder: true,
      isCut: folder.childrenWereProcessed === false,
    },
    ...listingRows(folder, depth + 1),
  ]);
  const files = objectsIn(node.childrenFiles).map(({ name }) => ({
    name: stringOrEmpty(name),
    depth,
    isFolder: false,
  }));
  return [...folders, ...files];
}

function Entry({ name, depth, isFolder, isCut }: Row) {
  return (
    <li class={`cr-depth-${Math.min(depth, 5)}${isFolder ? " cr-folder" : ""}`}>
      {documentText(name)}
      {isFolder && "/"}
      {isCut && <span class="cr-soft"> …</span>}
    </li>
  );
}
