/** Converts outcomes of edits to responses. */
import { Effect } from "effect"
import type { DraftOutcome, EditOutcome } from "../config/revisions/ConfigEditor.ts"
import type { PublishProblem } from "../config/revisions/Publish.ts"
import { ConfigConflict, ConfigForbidden, ConfigRefused, ConfigNotFound } from "./api/ConfigProblems.ts"
import { Unavailable } from "./api/Problems.ts"
import { conflictView, draftView, revisionView } from "./ConfigViews.ts"

type Failure = ConfigConflict | ConfigForbidden | ConfigRefused | ConfigNotFound | Unavailable

const none: PublishProblem = { code: "invalid_configuration", entity: "", path: "", message: "the edit is not valid" }

/** Selects the response of a refused edit by the code of its first reason. */
export const toRefusal = (issues: ReadonlyArray<PublishProblem>): Failure => {
  const { code, entity, message, path } = issues[0] ?? none
  const detail = [entity, path, message].filter((part) => part !== "").join(": ")
  switch (code) {
    case "approval_required":
    case "own_draft":
      return new ConfigForbidden({ code, detail, issues })
    case "draft_conflict":
    case "operation_id_reused":
    case "revision_conflict":
      return new ConfigConflict({ code, detail })
    case "draft_not_found":
    case "revision_not_found":
      return new ConfigNotFound({ code, detail })
    case "source_contended":
      return new Unavailable({ code, detail })
    default:
      return new ConfigRefused({ code, detail, issues })
  }
}

/** Returns the response of a request that publishes; fails with a conflict or a refusal. */
export const toPublished = (outcome: EditOutcome) => {
  switch (outcome._tag) {
    case "Committed": {
      const { active, revision } = outcome
      const status = active ? ("committed" as const) : ("activating" as const)
      return Effect.succeed({ status, revision: revisionView(revision), active })
    }
    case "Unchanged":
      return Effect.succeed({ status: "unchanged" as const, head: outcome.head })
    case "Conflict":
      return Effect.fail(
        new ConfigConflict({
          code: "revision_conflict",
          detail: `The configuration was changed since the base revision; the newest revision is ${outcome.head}.`,
          head: outcome.head,
          conflicts: outcome.conflicts.map(conflictView)
        })
      )
    case "Refused":
      return Effect.fail(toRefusal(outcome.problems))
  }
}

export const draftNotFound = new ConfigNotFound({ code: "draft_not_found", detail: "No draft with this id exists." })

export const draftConflict = (current: number | undefined): ConfigConflict =>
  new ConfigConflict({
    code: "draft_conflict",
    detail:
      current === undefined
        ? "The draft was deleted since it was read."
        : `The draft was changed since it was read; its version is ${current}.`,
    ...(current === undefined ? {} : { version: current })
  })

export const toDraft = (outcome: DraftOutcome) => {
  switch (outcome._tag) {
    case "Saved":
      return Effect.succeed(draftView(outcome.draft))
    case "NotFound":
      return Effect.fail(draftNotFound)
    case "Moved":
      return Effect.fail(draftConflict(outcome.current?.version))
    case "Refused":
      return Effect.fail(toRefusal(outcome.problems))
  }
}
