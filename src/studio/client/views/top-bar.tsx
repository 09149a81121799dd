// The bar of a narrow screen, which opens the sheets.
import { questions } from "../state/app.ts";
import { shownSheet } from "../state/layout.ts";

export function TopBar({ hasDetails = false }: { hasDetails?: boolean }) {
  return (
    <div class="top-bar">
      <button type="button" class="quiet" onClick={() => (shownSheet.value = "sessions")}>
        <span aria-hidden="true">☰</span> Sessions
        {questions.value.length > 0 && <span class="badge">{questions.value.length}</span>}
      </button>
      {hasDetails && (
        <button type="button" class="quiet" onClick={() => (shownSheet.value = "details")}>
          Details
        </button>
      )}
    </div>
  );
}
