/** Loads the subject of a claimed entry from the host when the review starts, so that the newest state counts. */
import { Effect } from "effect"
import { isIgnoredLabel } from "../../src/admission/IgnoredLabel.ts"
import type { TriggerProfile, Workspace } from "../../src/config/Snapshot.ts"
import { toSourceFacts } from "../../src/admission/Select.ts"
import { isTrustedRequester } from "../../src/domain/Change.ts"
import type { Change, Repo } from "../../src/domain/Change.ts"
import { isForgeKind } from "../../src/domain/Kinds.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { TriageIssue } from "../../src/engine/Triage.ts"
import { toChange } from "../../src/forge/Forge.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { findRequester } from "./FindRequester.ts"
import type { LaterReview } from "./FindRequester.ts"
import { resolveRange } from "./ReviewRange.ts"
import type { ReviewWork } from "./ReviewWork.ts"
import { loadIssue } from "./TriageRun.ts"

/** The change to review, or the reason for reviewing nothing. */
export type Subject =
  | {
      readonly _tag: "Review"
      readonly change: Change
      readonly head: string
      readonly base: string
      /** Default branch of the repository, where the host named it with the pull request. */
      readonly defaultBranch?: string | undefined
    }
  | {
      readonly _tag: "Triage"
      readonly change: Change
      readonly head: string
      readonly base: undefined
      readonly issue: TriageIssue
    }
  | { readonly _tag: "Skip"; readonly reason: Reason }
  /** Nothing is to be reviewed before that time. */
  | LaterReview

/**
 * Returns the work of the workspace that reviews pull requests into this branch. A comment payload does not name the branch, so its review
 * may have been admitted to another workspace.
 */
export const routedWork = (
  work: ReviewWork,
  { change }: Subject & { readonly change: Change }
): ReviewWork | Reason => {
  const { entry, profile, workspace } = work
  if (change.target.kind !== "pull_request" || change.baseRef === undefined || !isBoundByBranch(workspace)) return work
  const routed = workspaceOfBase(work, profile, entry.change.repo, change.baseRef)
  if ("_tag" in routed) return routed
  if (routed === workspace) return work
  return { ...work, workspace: routed, entry: { ...entry, workspace: routed.id } }
}

/** Returns the workspace that reviews pull requests into this branch, the admitted one if it matches, or the reason why there is none. */
export const workspaceOfBase = (
  { snapshot, workspace }: Pick<ReviewWork, "snapshot" | "workspace">,
  profile: TriggerProfile,
  repo: Repo,
  baseRef: string
): Workspace | Reason => {
  const routed = snapshot
    .route(profile.name, toSourceFacts(profile.kind, repo, baseRef))
    .filter(({ enabled }) => enabled)
  if (routed.some(({ id }) => id === workspace.id)) return workspace
  const [other] = routed
  return other === undefined || routed.length > 1
    ? { _tag: "NoWorkspaceOfBase", repository: repo.fullName, branch: baseRef }
    : other
}

export const isBoundByBranch = ({ instance }: Workspace): boolean =>
  instance.match?.some(({ source }) => source?.branch !== undefined || source?.ref !== undefined) === true

export const loadSubject = Effect.fnUntraced(function* (work: ReviewWork) {
  const { entry, snapshot, workspace, profile } = work
  const { change } = entry
  if (!isForgeKind(profile.kind)) return serverSubject(change)
  const client = (yield* Forges).client(profile)
  const { kind, number } = change.target
  if (kind !== "pull_request" && isBoundById(workspace) && change.repo.hostId !== undefined) {
    const other = anotherRepository(change, yield* client.repositoryId(change.repo))
    if (other !== undefined) return skip(other)
  }
  if (kind === "issue") return yield* issueSubject(change, workspace, client)
  if (kind === "pull_request" && number !== undefined) return yield* pullSubject(work, number, client)
  // A person may request the review of a merge group with the button of its check.
  const requester = kind === "merge_group" ? yield* findRequester(entry, client) : undefined
  if (requester?._tag === "Refused") return skip(requester.reason)
  if (requester?._tag === "Later") return requester
  const range = yield* resolveRange(entry, snapshot, client)
  if ("_tag" in range) return skip(range)
  const requested =
    requester === undefined ? change : { ...change, requestedBy: requester.person, full: requester.full }
  return { _tag: "Review", ...range, change: { ...requested, ...range } } as const satisfies Subject
})

/** A submitted change has no state at a host: what its server returned when it was routed does not change. */
const serverSubject = (change: Change): Subject => {
  const { base, head } = change
  if (head === undefined || base === undefined) return skip({ _tag: "NoRevision" })
  return { _tag: "Review", head, base, change }
}

/** True if the workspace is selected by the repository's numeric id. Repositories are addressed by name, so name and id must match. */
const isBoundById = ({ instance }: Workspace): boolean =>
  instance.match?.some(({ source }) => source?.project_key !== undefined) === true

const anotherRepository = ({ repo }: Change, id: number | undefined): Reason | undefined =>
  id === undefined || repo.hostId === undefined || repo.hostId === id
    ? undefined
    : { _tag: "OtherRepository", id: repo.hostId, repository: repo.fullName, other: id }

const issueSubject = Effect.fnUntraced(function* (change: Change, workspace: Workspace, client: ForgeClient) {
  const found = yield* loadIssue(change, workspace, client)
  if ("_tag" in found) return skip(found)
  const { issue, head } = found
  const { title } = issue
  return {
    _tag: "Triage",
    change: { ...change, title, head },
    head,
    base: undefined,
    issue
  } as const satisfies Subject
})

const pullSubject = Effect.fnUntraced(function* (work: ReviewWork, number: number, client: ForgeClient) {
  const requester = yield* findRequester(work.entry, client)
  if (requester._tag === "Refused") return skip(requester.reason)
  if (requester._tag === "Later") return requester
  const { full, person } = requester
  const change: Change = { ...work.entry.change, requestedBy: person, full }
  const pull = yield* client.pull(change.repo, number)
  const other = anotherRepository(change, pull.repo.hostId)
  if (other !== undefined && (change.provider === "gitlab" || isBoundById(work.workspace))) return skip(other)
  if (pull.state !== "open") return skip({ _tag: "NotOpen", kind: "pull_request", state: pull.state })
  const { head, base, defaultBranch } = pull
  const subject = {
    _tag: "Review",
    head,
    base,
    defaultBranch,
    change: { ...change, ...toChange(pull) }
  } as const satisfies Subject
  const routed = routedWork(work, subject)
  if ("_tag" in routed) return skip(routed)
  const { review } = routed.workspace
  if (routed !== work && person !== undefined && !isTrustedRequester(person) && !review.comment_commands)
    return skip(noCommands(routed.workspace))
  if (pull.draft && review.skip_drafts && person === undefined) return skip({ _tag: "Draft" })
  const ignored = pull.labels.find((label) => isIgnoredLabel(review, label))
  if (ignored !== undefined) return skip({ _tag: "LabelIgnored", kind: "pull_request", label: ignored })
  return subject
})

/** The workspace of the branch may refuse commands that the admitted workspace accepts. */
export const noCommands = ({ id }: Workspace): Reason => ({ _tag: "NoCommentCommands", workspace: id })

const skip = (reason: Reason) => ({ _tag: "Skip", reason }) as const satisfies Subject
