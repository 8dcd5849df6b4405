/** Cancels a running review whose head was replaced by a force push, so that the remainder is not paid for. */
import { Deferred, Effect } from "effect"
import { cloneUrl } from "../../src/domain/HostUrls.ts"
import { isForgeKind } from "../../src/domain/Kinds.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { Forges } from "../../src/forge/Forges.ts"
import type { Run } from "../../src/store/Runs.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { resolveCheckout } from "./AnalyseChange.ts"
import type { ReviewWork } from "./ReviewWork.ts"
import { followHead } from "../publishing/SupersededHead.ts"

/**
 * Completes `cancelled` when a force push has replaced the head of the run; never ends otherwise. The newest head is queued first, and
 * keeps a person's request. `heads` only triggers the check, because deliveries may be late: the host returns the newest head, and the
 * repository whether the head of the run is part of its history. If either is unavailable the review finishes.
 */
export const watchHead = Effect.fnUntraced(function* (
  run: Run,
  work: ReviewWork,
  heads: Effect.Effect<string>,
  cancelled: Deferred.Deferred<Reason>
) {
  const check = Effect.gen(function* () {
    const head = yield* heads
    const isReplaced = head !== run.head && (yield* replace(run, work))
    if (isReplaced) yield* Deferred.succeed(cancelled, { _tag: "HeadReplaced" })
  })
  return yield* Effect.forever(check)
})

/** Returns true if the head was replaced and the newest one is queued. */
const replace = Effect.fnUntraced(
  function* (run: Run, work: ReviewWork) {
    const newest = yield* findReplacement(run, work)
    if (newest === undefined) return false
    yield* followHead(run, work.workspace, newest)
    yield* Effect.logInfo("head of a running review was replaced").pipe(
      Effect.annotateLogs({ run_id: run.id, head: run.head, newest })
    )
    return true
  },
  (effect, run) =>
    Effect.catch(effect, ({ message }) =>
      Effect.as(
        Effect.logWarning("running review was not checked against the newer head").pipe(
          Effect.annotateLogs({ run_id: run.id, error: message })
        ),
        false
      )
    )
)

/** Returns the newest head of the pull request if the head of the run is not part of its history. */
const findReplacement = Effect.fnUntraced(function* (run: Run, work: ReviewWork) {
  const { repo, target } = run.change
  const { baseUrl, kind } = work.profile
  if (target.kind !== "pull_request" || target.number === undefined || baseUrl === undefined) return undefined
  const forges = yield* Forges
  const client = forges.client(work.profile)
  const { head, state } = yield* client.pull(repo, target.number)
  if (state !== "open" || head === run.head) return undefined
  const forge = isForgeKind(kind) ? forges.of(kind) : undefined
  const authorization = yield* client.gitAuthorization(repo)
  const remote = { url: cloneUrl(baseUrl, repo), authorization, rules: undefined }
  const isPart = yield* (yield* Vcs).isAncestor({
    ...resolveCheckout(run, work, forge, remote),
    head,
    base: run.head,
    baseRef: undefined
  })
  return isPart ? undefined : head
})
