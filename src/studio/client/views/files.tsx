// Browses the files of a session's directory, read-only and by the same rules as all other reading here.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { byteSize } from "../../../view/numbers.ts";
import { Code, languageForPath } from "../../components/text/code.tsx";
import type { FolderEntry } from "../service/api.ts";
import { service } from "../state/app.ts";
import type { Subject } from "./conversation.tsx";

type Shown = { path: string; text: string; bytes: number; isCut: boolean };

export function Files({ subject: { workspace } }: { subject: Subject }) {
  const folder = useSignal("");
  const entries = useSignal<readonly FolderEntry[] | undefined>(undefined);
  const file = useSignal<Shown | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const attempt = async (work: () => Promise<void>) => {
    problem.value = undefined;
    await work().catch((error: Error) => (problem.value = error.message));
  };
  useEffect(() => {
    if (workspace === undefined) return;
    void attempt(async () => {
      entries.value = await service().files(workspace, folder.value || ".");
    });
  }, [workspace, folder.value]);
  const open = ({ name, type }: FolderEntry) => {
    const path = `${folder.value}${name}`;
    if (type === "folder") folder.value = `${path}/`;
    else
      void attempt(async () => {
        file.value = { path, ...(await service().file(workspace!, path)) };
      });
  };
  return (
    <div class="review">
      <nav class="rail files-rail" aria-label="Files">
        {folder.value !== "" && (
          <button type="button" class="rail-line" onClick={() => (folder.value = folder.value.replace(/[^/]+\/$/, ""))}>
            ‹ {folder.value}
          </button>
        )}
        {entries.value?.map((entry) => (
          <button
            type="button"
            key={entry.name}
            class="rail-line"
            aria-current={file.value?.path === `${folder.value}${entry.name}` ? "true" : undefined}
            disabled={entry.type === "other"}
            onClick={() => open(entry)}
          >
            {entry.name}
            {entry.type === "folder" && "/"}
          </button>
        ))}
        {entries.value?.length === 0 && <p class="soft">This directory is empty.</p>}
      </nav>
      <div class="scroll">
        {problem.value !== undefined && <p class="problem">{problem.value}</p>}
        {file.value ? (
          <section class="changed" aria-label={file.value.path}>
            <div class="changed-head">
              <h2 class="file-path">{file.value.path}</h2>
              <span class="soft">
                {byteSize(file.value.bytes)}
                {file.value.isCut && ", the beginning of it"}
              </span>
            </div>
            <div class="file-shown">
              <Code text={file.value.text} language={languageForPath(file.value.path)} start={1} first={1000} />
            </div>
          </section>
        ) : (
          problem.value === undefined && (
            <div class="empty">
              <h2>Choose a file</h2>
              <p>
                Files of the session's directory, as they are on the disk now. Names that suggest secrets are not shown.
              </p>
            </div>
          )
        )}
      </div>
    </div>
  );
}
