/** Builds the JSON of the configuration for the administration. What it gets is masked already. */
import type { Difference } from "../../config/Diff.ts"
import type { EditPreview, RevisionDetails, SourceStatus } from "../../config/revisions/ConfigEditor.ts"
import type { Conflict } from "../../config/revisions/Revision.ts"
import type { ConfigDraft } from "../../config/revisions/DraftStore.ts"
import type { ResealJob } from "../../config/revisions/ResealStore.ts"
import type { ConfigOperationRecord } from "../../config/revisions/Revision.ts"
import { activation, credential, draft, draftVersion, revision, sealed, sealing } from "../api/ConfigRecords.ts"
import { toTime } from "../views/Views.ts"
import type { WaitingWork } from "./WaitingWork.ts"
import { withoutUndefined } from "../views/WithoutUndefined.ts"
import type { PublishProblem } from "../../config/revisions/Publish.ts"
import { inEnglish } from "../../text/en.ts"

/** JSON has no value for one that does not exist. */
const orNull = (value: unknown): unknown => value ?? null

export const conflictView = ({ base, head, path, yours }: Conflict) => ({
  entity: path[0] ?? "",
  path: path.slice(1).join("."),
  base: orNull(base),
  head: orNull(head),
  yours: orNull(yours)
})

const differenceView = ({ after, before, change, path }: Difference) => ({
  path,
  change,
  before: orNull(before),
  after: orNull(after)
})

export const revisionDetails = (found: RevisionDetails) => ({
  ...revision.view(found),
  diff: found.diff.map(differenceView),
  document: found.document
})

export const problemView = ({ code, entity, path, reason }: PublishProblem) => ({
  code,
  entity,
  path,
  message: inEnglish(reason),
  reason
})

export const previewView = (preview: EditPreview, waiting: WaitingWork) =>
  withoutUndefined({
    valid: preview.problems.length === 0 && preview.conflicts.length === 0,
    head: preview.head,
    rebased_from: preview.rebasedFrom,
    problems: preview.problems.map(problemView),
    conflicts: preview.conflicts.map(conflictView),
    warnings: preview.warnings.map((warning) => ({ ...warning, message: inEnglish(warning.reason) })),
    diff: preview.diff.map(differenceView),
    credentials: preview.credentials.map(credential.view),
    blast_radius: {
      workspaces: preview.blastRadius.workspaces,
      triggers: preview.blastRadius.triggers,
      channels: preview.blastRadius.channels,
      routes: preview.blastRadius.routes,
      bindings: preview.blastRadius.bindings,
      pinned_snapshots: preview.blastRadius.pinnedSnapshots,
      waiting: waiting.items,
      waiting_more: waiting.more
    }
  })

export const operationView = ({ createdAt, operationId, result }: ConfigOperationRecord) => {
  const common = { operation_id: operationId, created_at: toTime(createdAt) }
  switch (result._tag) {
    case "Committed":
      return withoutUndefined({
        ...common,
        status: "committed" as const,
        revision: result.revision,
        rebased_from: result.rebasedFrom
      })
    case "Unchanged":
      return { ...common, status: "unchanged" as const, revision: result.revision }
    case "Conflict":
      return {
        ...common,
        status: "conflict" as const,
        head: result.head,
        conflicts: result.conflicts.map(conflictView)
      }
    case "Resealed": {
      const { checked, failed, resealed, state } = result
      return { ...common, status: state, checked, resealed, failed }
    }
  }
}

export const resealView = (job: ResealJob) => ({ ...sealing.view(job), key: job.kid, ...sealed.view(job) })

export const statusView = ({ nodes, reseal, ...status }: SourceStatus) => ({
  ...status,
  ...(reseal === undefined ? {} : { reseal: resealView(reseal) }),
  nodes: nodes.map((node) => ({ ...activation.view(node), reported_at: toTime(node.at) }))
})

export const draftView = (found: ConfigDraft) => ({
  ...draft.view(found),
  base_revision: found.base,
  operations: found.operations,
  approvals: found.approvals.map(({ actor, at }) => ({ actor, at: toTime(at) })),
  ...draftVersion.view(found)
})
