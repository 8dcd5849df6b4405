/** Reports whether the edit is stored as a draft. Where another tab has stored one, the user decides which of the two stays. */
import { errorDetail } from "../text/DescribeError.ts"
import { formatClock } from "../text/Format.ts"
import { t, tReason } from "../text/T.ts"
import { fieldIssues } from "../client/Problem.ts"
import type { Autosave, SaveState, Stored } from "./Autosave.ts"

const reason = (error: unknown): string => {
  const [issue] = fieldIssues(error)
  return issue === undefined ? errorDetail(error) : [issue.path, tReason(issue.reason)].filter(Boolean).join(": ")
}

const describe = (state: SaveState): string => {
  switch (state._tag) {
    case "Unchanged":
      return ""
    case "Saving":
      return t("draft.saving")
    case "Saved":
      return t("draft.saved", { time: formatClock(state.at) })
    case "Failed":
      return t("draft.failed", { reason: reason(state.error) })
    case "Moved":
      return t("draft.failed", {
        reason: state.version === undefined ? t("draft.removed") : t("draft.moved", { version: state.version })
      })
  }
}

interface Props {
  readonly autosave: Autosave
  readonly stored: Stored
  /** Shows the stored version in place of the own one. */
  readonly onLoad: () => void
}

export const DraftStatus = ({ autosave, onLoad, stored }: Props) => {
  const { draft, state } = stored
  const isMoved = state._tag === "Moved"
  return (
    <div className="draft-status">
      <p role="status" aria-live="polite" className={isMoved || state._tag === "Failed" ? "tone-bad" : "quiet"}>
        {describe(state)}
      </p>
      {draft !== undefined && draft.editors.length > 1 ? (
        <p className="quiet small-text">{t("draft.editors", { names: draft.editors.join(", ") })}</p>
      ) : null}
      {isMoved ? (
        <div className="actions">
          <button type="button" className="small" onClick={() => void autosave.copy()}>
            {t("draft.copy")}
          </button>
          {state.version === undefined ? null : (
            <>
              <button type="button" className="small" onClick={() => void autosave.replace()}>
                {t("draft.replace")}
              </button>
              <button type="button" className="small" onClick={onLoad}>
                {t("draft.load")}
              </button>
            </>
          )}
        </div>
      ) : null}
    </div>
  )
}
