/** Converts outcomes of edits to responses. */
import { Effect } from "effect"
import type { DraftOutcome, EditOutcome } from "../../config/revisions/ConfigEditor.ts"
import type { PublishProblem } from "../../config/revisions/Publish.ts"
import { ConfigConflict, ConfigForbidden, ConfigRefused, ConfigNotFound } from "../api/ConfigProblems.ts"
import { because, Unavailable } from "../api/Problems.ts"
import { conflictView, draftView, problemView } from "./ConfigViews.ts"
import { revision as revisionRecord } from "../api/ConfigRecords.ts"
import { inEnglish } from "../../text/en.ts"

type Failure = ConfigConflict | ConfigForbidden | ConfigRefused | ConfigNotFound | Unavailable

const none: PublishProblem = { code: "invalid_configuration", entity: "", path: "", reason: { _tag: "EditInvalid" } }

/** Selects the response of a refused edit by the code of its first reason. */
export const toRefusal = (problems: ReadonlyArray<PublishProblem>): Failure => {
  const { code, entity, path, reason } = problems[0] ?? none
  const detail = [entity, path, inEnglish(reason)].filter((part) => part !== "").join(": ")
  const issues = problems.map(problemView)
  switch (code) {
    case "approval_required":
    case "own_draft":
      return new ConfigForbidden({ code, detail, reason, issues })
    case "draft_conflict":
    case "operation_id_reused":
    case "revision_conflict":
      return new ConfigConflict({ code, detail, reason })
    case "draft_not_found":
    case "revision_not_found":
      return new ConfigNotFound({ code, detail, reason })
    case "source_contended":
      return new Unavailable({ code, detail, reason })
    default:
      return new ConfigRefused({ code, detail, reason, issues })
  }
}

/** Returns the response of a request that publishes; fails with a conflict or a refusal. */
export const toPublished = (outcome: EditOutcome) => {
  switch (outcome._tag) {
    case "Committed": {
      const { active, revision } = outcome
      const status = active ? ("committed" as const) : ("activating" as const)
      return Effect.succeed({ status, revision: revisionRecord.view(revision), active })
    }
    case "Unchanged":
      return Effect.succeed({ status: "unchanged" as const, head: outcome.head })
    case "Conflict":
      return Effect.fail(
        new ConfigConflict({
          code: "revision_conflict",
          ...because({ _tag: "HeadMoved", number: outcome.head }),
          head: outcome.head,
          conflicts: outcome.conflicts.map(conflictView)
        })
      )
    case "Refused":
      return Effect.fail(toRefusal(outcome.problems))
  }
}

export const draftNotFound = new ConfigNotFound({ code: "draft_not_found", ...because({ _tag: "DraftUnknown" }) })

export const draftConflict = (current: number | undefined): ConfigConflict =>
  new ConfigConflict({
    code: "draft_conflict",
    ...because(current === undefined ? { _tag: "DraftDeleted" } : { _tag: "DraftMoved", version: current }),
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
