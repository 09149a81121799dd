// A row of a session or a run outside of the list. All of it leads there; links in its second line lead elsewhere.
import type { ComponentChildren } from "preact";
import { baseName } from "../model/figures.ts";
import { Mark } from "./mark.tsx";

type RowProps = {
  href: string;
  agent: string;
  title: string | undefined;
  workspace: string | undefined;
  /** A time or cost at the right edge of the row. */
  figure: string;
  /** The second line, below the title. */
  children: ComponentChildren;
};

export function Row({ href, agent, title, workspace, figure, children }: RowProps) {
  return (
    <div class="row">
      <Mark agent={agent} />
      <span class="row-title">
        <a href={href} dir="auto">
          {title}
        </a>
        {workspace && <span class="soft">{baseName(workspace)}/</span>}
      </span>
      <span class="row-figure">{figure}</span>
      <span class="row-line">{children}</span>
    </div>
  );
}
