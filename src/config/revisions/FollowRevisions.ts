/**
 * Keeps this node at the newest revision: before admissions, at every refresh and when another node has published. Reports what the node has
 * activated or refused, and removes old revisions and records.
 */
import { Clock, DateTime, Duration, Effect, Fiber, Layer, Option, Schedule, Semaphore, Stream } from "effect"
import { NodeIdentity } from "../../domain/NodeIdentity.ts"
import type { Activation } from "../ConfigStore.ts"
import { ConfigStore } from "../ConfigStore.ts"
import { ActivationStore, activationExpiry } from "./ActivationStore.ts"
import { AuditLog } from "./AuditLog.ts"
import { DraftStore, maxDraftAge } from "./DraftStore.ts"
import type { RevisionHead } from "./Revision.ts"
import { noRevision } from "./Revision.ts"
import { lostRevisions } from "./LoadRevisions.ts"
import { RevisionStore, SourceUnavailable } from "./RevisionStore.ts"

/** Time that an admission waits; after it the delivery is admitted under the revision that the node works with. */
const admissionTimeout = "2 seconds"
/** Timeout of each access to the store. Reading a large revision takes longer than the access. */
const storeTimeout = "2 seconds"
const reportInterval = Duration.minutes(1)
const pruneInterval = Duration.hours(1)
/** Newest revisions that are never removed. */
const protectedRevisions = 11

const same = (left: RevisionHead, right: RevisionHead): boolean =>
  left.number === right.number && left.hash === right.hash

/** Returns an effect that runs `effect` at least once after each call; calls that wait for it share one run. */
export const coalesced = Effect.fnUntraced(function* <E>(effect: Effect.Effect<void, E>) {
  const one = yield* Semaphore.make(1)
  let started = 0
  const run = Effect.suspend(() => {
    started++
    return effect
  })
  return Effect.suspend(() => {
    const needed = started + 1
    return one.withPermits(1)(Effect.suspend(() => (started >= needed ? Effect.void : run)))
  })
})

/** Runs `effect` and waits for it for a limited time; it continues, and the next call waits for its end before it runs it again. */
export const waitBriefly = Effect.fnUntraced(function* (effect: Effect.Effect<void>) {
  const scope = yield* Effect.scope
  let running: Fiber.Fiber<void> | undefined
  return Effect.gen(function* () {
    if (running !== undefined) yield* Fiber.await(running)
    running = yield* Effect.forkIn(effect, scope)
    yield* Fiber.await(running)
  }).pipe(Effect.timeoutOption(admissionTimeout), Effect.asVoid)
})

/** The result of the newest revision that this node has read. */
interface Attempt {
  readonly head: RevisionHead
  readonly activation: Activation
  /** Hash of the snapshot at that time: a refused revision is tried again after the file has changed. */
  readonly snapshot: string
}

/** Numbers only increase: a database with a lower one than this node works with has lost revisions. */
const refuseLoss = (head: RevisionHead, active: RevisionHead): Omit<Attempt, "snapshot"> => ({
  head,
  activation: { _tag: "Refused", problems: [lostRevisions(head.number, active.number)] }
})

/** Returns undefined if the revision does not exist any more. */
const activateHead = Effect.fnUntraced(function* (
  config: ConfigStore["Service"],
  revisions: RevisionStore["Service"],
  { number }: RevisionHead
) {
  const revision = yield* Effect.timeout(revisions.read(number), storeTimeout)
  if (revision === undefined) return undefined
  const { document, hash } = revision
  return { head: { number, hash }, activation: yield* config.activate({ number, hash, document }) }
})

/** Mostly the node works with the head: then this costs one read, and no fiber but that of the timeout. */
const readFirst = Effect.fnUntraced(function* (
  revisions: RevisionStore["Service"],
  isCurrent: (head: RevisionHead) => boolean,
  adopt: Effect.Effect<void>
) {
  let isRead = false
  const compared = Effect.flatMap(revisions.head, (head) => {
    isRead = true
    return isCurrent(head) ? Effect.void : adopt
  })
  const outcome = yield* Effect.timeoutOption(compared, admissionTimeout)
  if (Option.isNone(outcome) && !isRead)
    yield* new SourceUnavailable({ operation: "revisions.head", why: { _tag: "NoResponseWithin", seconds: 2 } })
})

/** Returns a function for effects whose failure only delays the activation. Each outage is logged once. */
const logOnce = () => {
  let isUnavailable = false
  return <E extends { readonly message: string }>(effect: Effect.Effect<void, E>) =>
    effect.pipe(
      Effect.tap(() => Effect.sync(() => void (isUnavailable = false))),
      Effect.catch(({ message }) => {
        if (isUnavailable) return Effect.void
        isUnavailable = true
        return Effect.logWarning("database configuration unavailable, the current revision stays in force", {
          error: message
        })
      })
    )
}

const follow = Effect.gen(function* () {
  const config = yield* ConfigStore
  const revisions = yield* RevisionStore
  const activations = yield* ActivationStore
  const { name: node } = yield* NodeIdentity
  let last: Attempt = {
    head: config.layered()?.active ?? noRevision,
    activation: { _tag: "Active" },
    snapshot: config.current().hash
  }

  // One at a time: of two that are written in parallel, the older one could remain.
  const report = yield* coalesced(
    Effect.gen(function* () {
      const { activation, head } = last
      const reported = activations.report({
        node,
        revision: head.number,
        state: activation._tag === "Active" ? "active" : "refused",
        active: config.layered()?.active.number ?? 0,
        snapshot: config.current().hash,
        problems: activation._tag === "Active" ? [] : activation.problems,
        at: yield* Clock.currentTimeMillis
      })
      yield* Effect.timeout(reported, storeTimeout)
    })
  )

  const one = yield* Semaphore.make(1)
  const adopt = Effect.fnUntraced(function* (again: boolean) {
    const head = yield* Effect.timeout(revisions.head, storeTimeout)
    const active = config.layered()?.active ?? noRevision
    if (same(head, active)) {
      if (same(head, last.head)) return
      last = { head, activation: { _tag: "Active" }, snapshot: config.current().hash }
      return yield* report
    }
    const isKnown = same(head, last.head) && last.snapshot === config.current().hash
    if (isKnown && last.activation._tag === "Refused" && !again) return
    const tried = head.number < active.number ? refuseLoss(head, active) : yield* activateHead(config, revisions, head)
    if (tried === undefined) return
    const { activation } = tried
    const isNews = !same(head, last.head) || activation._tag !== last.activation._tag
    last = { ...tried, snapshot: config.current().hash }
    if (activation._tag === "Refused" && isNews)
      yield* Effect.logError("configuration revision refused, the current one stays in force", {
        revision: head.number,
        active: active.number,
        issues: activation.problems
      })
    yield* report
  }, one.withPermits(1))

  const survive = logOnce()
  const isCurrent = (head: RevisionHead): boolean =>
    same(head, config.layered()?.active ?? noRevision) && same(head, last.head)
  const adoptBriefly = yield* waitBriefly(survive(adopt(false)))
  const adoptHead = yield* coalesced(survive(readFirst(revisions, isCurrent, adoptBriefly)))
  config.adoptWith(adoptHead)
  yield* adoptHead
  yield* survive(report)

  const { runtime } = config.current().document.config_sources
  yield* Effect.forkScoped(
    Effect.schedule(adoptHead, Schedule.spaced(Duration.seconds(runtime.refresh_interval_seconds)))
  )
  yield* Effect.forkScoped(Stream.runForEach(config.changes, () => survive(report)))
  yield* Effect.forkScoped(
    Effect.schedule(survive(Effect.andThen(adopt(true), report)), Schedule.spaced(reportInterval))
  )
  yield* Effect.forkScoped(pruneRegularly)
})

/** Removes the drafts that were changed last before `since`, unless they are changed now; returns how many. */
const pruneDrafts = Effect.fnUntraced(function* (drafts: DraftStore["Service"], since: number) {
  const old = (yield* drafts.list).filter(({ updatedAt }) => updatedAt < since)
  const removed = yield* Effect.forEach(old, ({ id, version }) => drafts.remove(id, version))
  return removed.filter(Boolean).length
})

/** Removes what the retention does not keep, once an hour. */
const pruneRegularly = Effect.gen(function* () {
  const config = yield* ConfigStore
  const now = yield* Clock.currentTimeMillis
  const { max_age_months: months, max_count: count } = config.current().document.storage.retention.config_revisions
  const since = DateTime.toEpochMillis(DateTime.subtract(DateTime.makeUnsafe(now), { months }))
  const pinned = yield* config.pinnedRevisions
  yield* (yield* RevisionStore).prune({ count, protect: protectedRevisions, since, pinned })
  yield* (yield* AuditLog).prune(since)
  const removed = yield* pruneDrafts(yield* DraftStore, now - maxDraftAge)
  if (removed > 0) yield* Effect.logInfo("old drafts of the configuration removed", { drafts: removed })
  yield* (yield* ActivationStore).prune(now - activationExpiry)
}).pipe(
  Effect.catch(({ message }) => Effect.logWarning("old configuration revisions not removed", { error: message })),
  Effect.repeat(Schedule.spaced(pruneInterval))
)

/** Does nothing if the file does not enable the database. */
export const layer = Layer.effectDiscard(
  Effect.suspend(() => Effect.flatMap(ConfigStore, (config) => (config.layered() === undefined ? Effect.void : follow)))
)
