/** The state of a review as the tools for coding agents return it, and waiting for its end. */
import { Clock, Effect, Schema } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { isUnresolved } from "../../domain/FindingState.ts"
import { Severity } from "../../domain/Kinds.ts"
import { RunStatus, runLifecycle } from "../../domain/Run.ts"
import { runUrl } from "../../domain/RunLink.ts"
import type { TokenRights } from "../../domain/ServiceToken.ts"
import { Runs } from "../../store/Runs.ts"
import type { Run } from "../../store/Runs.ts"
import { inEnglish } from "../../text/en.ts"
import { countRound } from "./CountRound.ts"
import { findReview, readFindings } from "./FindReviews.ts"
import type { ChangeNamed } from "./FindReviews.ts"

const text = (description: string) => Schema.String.annotate({ description })
const maybe = (description: string) => Schema.optionalKey(text(description))

const ended = (status: RunStatus): boolean => runLifecycle.isTerminal(status)

export const ReviewStatus = Schema.Struct({
  repository: text("Full name of the repository"),
  number: Schema.optionalKey(Schema.Int.annotate({ description: "Number of the pull request" })),
  found: Schema.Boolean.annotate({ description: "False: no review of the change has begun" }),
  done: Schema.Boolean.annotate({
    description: "True once the review has ended; otherwise call wait_for_review again"
  }),
  status: Schema.optionalKey(Schema.Literals(RunStatus.literals).annotate({ description: "State of the review" })),
  reason: maybe("Reason of the state"),
  head: maybe("Reviewed commit"),
  open: Schema.optionalKey(
    Schema.Record(Severity, Schema.Int).annotate({
      description: "Numbers of open findings by severity, of a review that has an analysis"
    })
  ),
  partial: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "True if a part of the change was not read or not published" })
  ),
  url: maybe("Address of the change at the host"),
  page: maybe("Page of the review in the dashboard")
})
export type ReviewStatus = typeof ReviewStatus.Type

const countOpen = Effect.fnUntraced(function* (run: Run) {
  const open = { critical: 0, high: 0, medium: 0, low: 0, info: 0 } satisfies Record<Severity, number>
  for (const { finding, state } of yield* readFindings(run)) if (isUnresolved(state)) open[finding.problem.severity]++
  return open
})

const statusOf = Effect.fnUntraced(function* (named: ChangeNamed, run: Run | undefined) {
  const { number, repository } = named
  if (run === undefined)
    return { repository, ...(number === undefined ? {} : { number }), found: false, done: false } satisfies ReviewStatus
  const { server } = (yield* ConfigStore).current().document
  const { change } = run
  const page = runUrl(server, run.id)
  return {
    repository: change.repo.fullName,
    ...(change.target.number === undefined ? {} : { number: change.target.number }),
    found: true,
    done: ended(run.status),
    status: run.status,
    ...(run.reason === undefined ? {} : { reason: inEnglish(run.reason) }),
    head: run.head,
    ...(run.analysis === undefined ? {} : { open: yield* countOpen(run) }),
    partial: run.partial,
    ...(change.url === undefined ? {} : { url: change.url }),
    ...(page === undefined ? {} : { page })
  } satisfies ReviewStatus
})

export const readStatus = Effect.fnUntraced(function* (named: ChangeNamed, token: TokenRights) {
  return yield* statusOf(named, yield* findReview(named, token))
})

const pollMillis = 2000

/**
 * Returns the state of the review once it has ended, or after this time. What it waits for is recorded, so that a call may be repeated on any
 * node after any interruption.
 */
export const waitForReview = Effect.fnUntraced(function* (named: ChangeNamed, token: TokenRights, seconds: number) {
  const deadline = (yield* Clock.currentTimeMillis) + seconds * 1000
  let run = yield* findReview(named, token)
  while (true) {
    const left = deadline - (yield* Clock.currentTimeMillis)
    if ((run !== undefined && ended(run.status)) || left <= 0) {
      if (run?.status === "succeeded") yield* countRound(run)
      return yield* statusOf(named, run)
    }
    yield* Effect.sleep(Math.min(pollMillis, left))
    run = yield* run === undefined ? findReview(named, token) : (yield* Runs).get(run.id)
  }
})
