/** Finds the reviews of a change that a token may reach. What it may not reach does not exist for it. */
import { Effect } from "effect"
import { decidedKey, discussedKey } from "../../domain/Change.ts"
import { runLifecycle } from "../../domain/Run.ts"
import { mayReach } from "../../domain/ServiceToken.ts"
import type { TokenRights } from "../../domain/ServiceToken.ts"
import { Outbox } from "../../store/Outbox.ts"
import { Outcomes } from "../../store/Outcomes.ts"
import { Runs } from "../../store/Runs.ts"
import type { Run } from "../../store/Runs.ts"
import { AgentRefusal } from "./AgentRefusal.ts"
import { countRound } from "./CountRound.ts"
import { followFindings } from "./FollowFindings.ts"

/** Names a change: a pull request by its number, any change by a commit, or both. */
export interface ChangeNamed {
  readonly repository: string
  readonly trigger?: string
  readonly number?: number
  /** Commit, or its first digits, seven of them or more. */
  readonly head?: string
}

/** Newest runs of a repository among which a commit is searched, and of a change among which its replies are. */
const searched = 50

/** The number of a pull request names the reviews of the change, and not those of its merge groups, which their commits name. */
const isReview = ({ change }: Run, head: string | undefined): boolean => {
  const { kind } = change.target
  return kind !== "comment" && kind !== "issue" && (kind !== "merge_group" || head !== undefined)
}

/** Returns the newest review of a change; undefined if there is none, or the token may not reach it. */
export const findReview = Effect.fnUntraced(function* (
  { head, number, repository, trigger }: ChangeNamed,
  token: TokenRights
) {
  const runs = yield* (yield* Runs).list({ repo: repository, number, trigger, limit: searched })
  return runs.find(
    (run) =>
      isReview(run, head) &&
      mayReach(token, run.change) &&
      (head === undefined || run.head.startsWith(head.toLowerCase()))
  )
})

/** Returns the findings of a review with their numbers and states. */
export const readFindings = Effect.fnUntraced(function* (review: Run) {
  const { change, id, targetKey } = review
  const rows = yield* (yield* Outbox).ofRun(id)
  const { number } = change.target
  const related =
    number === undefined
      ? []
      : yield* (yield* Runs).list({ trigger: change.trigger, repo: change.repo.fullName, number, limit: searched })
  return followFindings(review, {
    listed: rows.find(({ listed }) => listed !== undefined)?.listed ?? [],
    outcomes: yield* (yield* Outcomes).ofTarget(decidedKey(change)),
    replies: related.filter((run) => run.change.target.kind === "comment" && discussedKey(run.change) === targetKey)
  })
})

/** Returns the newest review of a change with its findings, and counts its head. */
export const openReview = Effect.fnUntraced(function* (named: ChangeNamed, token: TokenRights) {
  const review = yield* findReview(named, token)
  if (review?.analysis === undefined || !runLifecycle.isTerminal(review.status))
    return yield* new AgentRefusal({ why: { _tag: review === undefined ? "ChangeNotReviewed" : "ReviewNotEnded" } })
  yield* countRound(review)
  return { review, analysis: review.analysis, findings: yield* readFindings(review) }
})
