/**
 * The end of a pull request: one read of it and one of its comments at the host, and the files of the merged tree, or of the last head of one that
 * was closed.
 */
import { Effect } from "effect"
import type { Snapshot, TriggerProfile, Workspace } from "../../src/config/Snapshot.ts"
import { hasUsername } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { DecidedBy } from "../../src/domain/DecidedBy.ts"
import { withReaction } from "../../src/domain/FindingOutcome.ts"
import type { EndedChange, OutcomeRecord } from "../../src/domain/FindingOutcome.ts"
import type { FindingState } from "../../src/domain/FindingState.ts"
import { cloneUrl } from "../../src/domain/HostUrls.ts"
import { isForgeKind } from "../../src/domain/Kinds.ts"
import { settleChange } from "../../src/engine/SettleChange.ts"
import { toChange } from "../../src/forge/Forge.ts"
import type { ForgeClient, HostPull } from "../../src/forge/Forge.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { Records } from "../../src/outputs/Records.ts"
import type { ClaimedEnd } from "../../src/store/Settlements.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import type { GitCheckoutRequest } from "../../src/vcs/Checkout.ts"
import { gitTransport } from "../../src/vcs/GitTransport.ts"
import { publishedRecords } from "../publishing/PublishedRecords.ts"

/** The findings of a change that ended, with what people did about them, and the states of their code then, in the same order. */
export interface ReadEnd {
  readonly change: EndedChange
  readonly records: ReadonlyArray<OutcomeRecord>
  readonly states: ReadonlyArray<FindingState>
}

interface Ended {
  readonly change: Change
  readonly client: ForgeClient
  readonly profile: TriggerProfile
  readonly pull: HostPull
  readonly workspace: Workspace
}

/** Returns the records with what people did about the comments of the findings up to now. */
const withReactions = Effect.fnUntraced(function* (
  { change, workspace }: Ended,
  { eventId, targetKey }: ClaimedEnd,
  records: ReadonlyArray<OutcomeRecord>
) {
  const present = records.map(({ fingerprint }) => fingerprint)
  const reactions = yield* (yield* Outputs)
    .reactions(workspace, change, { runId: eventId, targetKey, present })
    .pipe(Effect.provideService(Records, yield* publishedRecords))
  const byFinding = new Map(reactions.map((reaction) => [reaction.fp, reaction]))
  return records.map((one) => withReaction(one, byFinding.get(one.fingerprint)))
})

/** A maintainer may write to the repository and did not open the change. */
const findMerger = Effect.fnUntraced(function* ({ client, pull }: Ended) {
  const { author, mergedBy, repo } = pull
  if (mergedBy === undefined) return undefined
  const name = mergedBy.username
  if (hasUsername(author, name)) return "author" satisfies DecidedBy
  const canWrite = yield* Effect.catchIf(
    client.canWrite(repo, name),
    ({ reason }) => reason !== "rate_limited" && reason !== "unavailable",
    () => Effect.succeed(false)
  )
  return canWrite ? "maintainer" : ("other" satisfies DecidedBy)
})

/** Reads the states of the code at the end of the change. `reviewed`: head of the newest review. */
const readStates = Effect.fnUntraced(function* (
  { client, profile, pull }: Ended,
  end: ClaimedEnd,
  records: ReadonlyArray<OutcomeRecord>
) {
  const { baseUrl, kind } = profile
  const isMerged = pull.state === "merged"
  const head = isMerged ? (pull.mergeCommit ?? (yield* client.branchHead(pull.repo, pull.baseRef))) : pull.head
  const reviewed = records[0]?.head ?? head
  if (baseUrl === undefined || !isForgeKind(kind)) return { head, states: records.map(({ outcome }) => outcome) }
  const pullRef = (yield* Forges).of(kind).pullRef(end.number)
  const request: GitCheckoutRequest = {
    url: cloneUrl(baseUrl, pull.repo),
    mirror: `${end.trigger}/${pull.repo.fullName}`,
    authorization: yield* client.gitAuthorization(pull.repo),
    head,
    base: reviewed,
    headRef: isMerged ? `refs/heads/${pull.baseRef}` : pullRef,
    baseRef: pullRef,
    compare: "endpoints",
    rules: undefined,
    ...gitTransport(profile)
  }
  const vcs = yield* Vcs
  // The reviewed commit of a branch that was deleted may be gone.
  const checkout = yield* Effect.catchIf(
    vcs.checkout(request),
    ({ reason }) => reason === "absent" && reviewed !== head,
    () => vcs.checkout({ ...request, base: head })
  )
  return { head, states: yield* settleChange(checkout, records) }
}, Effect.scoped)

/** Reads the end of a pull request. `open`: it is open again, or closed as before. Undefined: its workspace or its host is no longer configured. */
export const readEndedPull = Effect.fnUntraced(function* (
  end: ClaimedEnd,
  snapshot: Snapshot,
  undecided: ReadonlyArray<OutcomeRecord>
) {
  const profile = snapshot.triggers.get(end.trigger)
  const workspace = snapshot.workspaces.get(end.workspace)
  if (profile === undefined || workspace === undefined || !isForgeKind(profile.kind)) return undefined
  const client = (yield* Forges).client(profile)
  const pull = yield* client.pull({ fullName: end.repo }, end.number)
  const isDecided = pull.state === "closed" && undecided.every(({ settled }) => settled === "closed")
  if (pull.state === "open" || isDecided) return "open" as const
  const { provider, trigger } = end
  const target = { kind: "pull_request", number: end.number } as const
  const change: Change = { provider, trigger, workspace: end.workspace, target, ...toChange(pull) }
  const ended: Ended = { change, client, profile, pull, workspace }
  const records = yield* withReactions(ended, end, undecided)
  const { head, states } = yield* readStates(ended, end, records)
  const isMerged = pull.state === "merged"
  return {
    change: {
      end: isMerged ? "merged" : "closed",
      head,
      baseRef: pull.baseRef,
      mergedBy: isMerged ? yield* findMerger(ended) : undefined
    },
    records,
    states
  } satisfies ReadEnd
})
