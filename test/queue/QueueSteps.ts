/** Random steps for the queue, taken by a store and by the model alike; any difference is an error. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import type { QueueAdmission, Cancelled, Finish, Lease, Queue, Renewal } from "../../src/queue/Queue.ts"
import type { QueueControl } from "../../src/queue/operator/QueueControl.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { inEnglish } from "../../src/text/en.ts"
import { before, change, toTarget } from "./Admissions.ts"
import type { ModelEntry, QueueModel } from "./QueueModel.ts"

export type Step =
  | {
      readonly _tag: "Admit"
      readonly items: ReadonlyArray<{
        readonly target: number
        readonly head: string | undefined
        readonly baseRef?: string | undefined
        readonly event: number
        readonly delay: number
        readonly priority: number
        readonly person: string | false
        readonly expires: boolean | undefined
      }>
    }
  | { readonly _tag: "Release" | "Withdraw" | "Claim" | "CancelEntry" | "RetryDead"; readonly entry: number }
  | { readonly _tag: "Survey" | "TogglePause"; readonly workspace: number }
  | { readonly _tag: "Renew" | "AwaitModel"; readonly lease: number }
  | { readonly _tag: "Finish"; readonly lease: number; readonly how: "Done" | "Dead" | "Cancelled" | "Retry" | "Back" }
  | { readonly _tag: "Reclaim"; readonly owner: number }
  | { readonly _tag: "Cancel"; readonly target: number }
  | { readonly _tag: "Expire"; readonly age: number }
  /** Negative: the clock is set back. */
  | { readonly _tag: "Pass"; readonly millis: number }
  | { readonly _tag: "Reopen" }

const small = fc.nat({ max: 7 })
const item = fc.record({
  target: fc.nat({ max: 2 }),
  head: fc.constantFrom("a", "b", "c", undefined),
  baseRef: fc.constantFrom(undefined, "main", "main", "next"),
  event: fc.nat({ max: 30 }),
  delay: fc.constantFrom(-5, 0, 0, 0, 10),
  priority: fc.constantFrom(-10, 0, 10, 20),
  person: fc.constantFrom(false as const, false as const, "ada", "eve", "administrator root", "chat U1"),
  expires: fc.constantFrom(undefined, undefined, true, false)
})
const tagged = <T extends string, A>(_tag: T, fields: fc.Arbitrary<A>) => fields.map((rest) => ({ _tag, ...rest }))

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: tagged("Admit", fc.record({ items: fc.array(item, { minLength: 1, maxLength: 3 }) })) },
  { weight: 5, arbitrary: tagged("Release", fc.record({ entry: small })) },
  { weight: 1, arbitrary: tagged("Withdraw", fc.record({ entry: small })) },
  { weight: 5, arbitrary: tagged("Claim", fc.record({ entry: small })) },
  { weight: 1, arbitrary: tagged("Renew", fc.record({ lease: small })) },
  { weight: 2, arbitrary: tagged("AwaitModel", fc.record({ lease: small })) },
  {
    weight: 3,
    arbitrary: tagged(
      "Finish",
      fc.record({ lease: small, how: fc.constantFrom("Done", "Dead", "Cancelled", "Retry", "Retry", "Back") })
    )
  },
  { weight: 1, arbitrary: tagged("Reclaim", fc.record({ owner: fc.nat({ max: 3 }) })) },
  { weight: 1, arbitrary: tagged("Cancel", fc.record({ target: fc.nat({ max: 2 }) })) },
  { weight: 1, arbitrary: tagged("CancelEntry", fc.record({ entry: small })) },
  { weight: 1, arbitrary: tagged("RetryDead", fc.record({ entry: small })) },
  { weight: 2, arbitrary: tagged("Survey", fc.record({ workspace: fc.nat({ max: 1 }) })) },
  { weight: 1, arbitrary: tagged("TogglePause", fc.record({ workspace: fc.nat({ max: 1 }) })) },
  { weight: 1, arbitrary: tagged("Expire", fc.record({ age: fc.nat({ max: 60 }) })) },
  {
    weight: 2,
    arbitrary: tagged(
      "Pass",
      fc.record({
        millis: fc.oneof({ weight: 9, arbitrary: fc.nat({ max: 20 }) }, fc.constantFrom(3_600_000, -3_600_000, -10))
      })
    )
  },
  { weight: 1, arbitrary: fc.constant({ _tag: "Reopen" }) }
)

export class Play {
  now = 1_000_000_000
  readonly leases: Array<Lease> = []
  readonly model: QueueModel

  constructor(model: QueueModel) {
    this.model = model
  }

  /** Takes one step on both sides and compares the results. */
  readonly take = Effect.fnUntraced(function* (
    this: Play,
    { queue, control }: { readonly queue: Queue["Service"]; readonly control: QueueControl["Service"] },
    taken: Step
  ) {
    const { model, now } = this
    switch (taken._tag) {
      case "Admit": {
        const items = taken.items.map((one) => this.admission(one))
        const expected = items.map((one) => {
          const { entry, status, superseded } = model.admit(one)
          return { entry, status, superseded: superseded.toSorted(), dueAt: entry.dueAt }
        })
        const answers = yield* queue.admit(items)
        for (const [index, answer] of answers.entries()) {
          const entry = expected[index]?.entry
          if (entry?.id.startsWith("new:") === true) entry.id = answer.entryId
        }
        assert.deepStrictEqual(
          answers.map(({ entryId, status, superseded, dueAt }) => [entryId, status, superseded.toSorted(), dueAt]),
          expected.map(({ entry, status, superseded, dueAt }) => [entry.id, status, superseded, dueAt])
        )
        return
      }
      case "Release": {
        const entry = this.pick(taken.entry)
        if (entry === undefined) return
        const moved = model.release(entry, now)
        assert.deepStrictEqual(yield* queue.promote([entry.id], now), moved ? [entry.id] : [])
        return
      }
      case "Withdraw": {
        const entry = this.pick(taken.entry)
        if (entry === undefined) return
        model.withdraw(entry)
        yield* queue.demote([entry.id])
        return
      }
      case "Claim": {
        const entry = this.pick(taken.entry)
        if (entry === undefined) return
        const owner = `node/${taken.entry % 3}`
        const claimed = model.claim(entry, owner, now + 30)
        const answer = yield* queue.claim(entry.id, owner, now, 30)
        assert.deepStrictEqual(answer?.lease, claimed ? { entryId: entry.id, token: entry.token } : undefined)
        if (answer !== undefined) this.leases.push(answer.lease)
        return
      }
      case "Renew": {
        const held = this.lease(taken.lease)
        if (held === undefined) return
        const expected = model.renew(held.entry, held.lease.token, now + 30)
        assert.strictEqual(renewal(yield* queue.renew(held.lease, now + 30)), expected)
        return
      }
      case "AwaitModel": {
        const held = this.lease(taken.lease)
        if (held === undefined) return
        assert.strictEqual(yield* queue.awaitModel(held.lease), model.awaitModel(held.entry, held.lease.token))
        return
      }
      case "Finish": {
        const held = this.lease(taken.lease)
        if (held === undefined) return
        const how = finishOf(taken.how, now)
        const expected = model.finish(held.entry, held.lease.token, how)
        assert.strictEqual(yield* queue.finish(held.lease, how), expected)
        return
      }
      case "Reclaim": {
        const lost = (owner: string) => owner === `node/${taken.owner}`
        const expected = model.reclaim(now, lost)
        const answer = yield* queue.reclaim(now, lost)
        assert.sameMembers(ids(answer), ids(expected))
        return
      }
      case "Cancel": {
        const target = toTarget(taken.target, workspaceOf(taken.target))
        const running = model.entries.find((entry) => entry.target === target && entry.status === "running")
        const expected = model.cancel(
          [model.waiting(target), running].filter((entry) => entry !== undefined),
          "closed"
        )
        assert.deepStrictEqual(cancelledIds(yield* queue.cancel(target, verbatimReason("closed"))), expected)
        return
      }
      case "CancelEntry": {
        const entry = this.pick(taken.entry)
        if (entry === undefined) return
        const expected = model.cancel([entry], "unwanted")
        assert.deepStrictEqual(cancelledIds(yield* control.cancelEntry(entry.id, verbatimReason("unwanted"))), expected)
        return
      }
      case "RetryDead": {
        const dead = model.entries.filter((entry) => entry.status === "dead")
        const entry = dead.at(-1 - (taken.entry % Math.max(1, dead.length))) ?? this.pick(taken.entry)
        if (entry === undefined) return
        assert.strictEqual(yield* control.retry(entry.id, now), model.retry(entry, now))
        return
      }
      case "Survey": {
        const workspace = workspaces[taken.workspace] ?? "app"
        const places = 3
        const { paused, inFlight, eligible, nextAt } = yield* queue.loadSnapshot(workspace, now, places)
        const expected = model.survey(workspace, now)
        assert.strictEqual(paused, model.paused.has(workspace))
        assert.sameMembers(ids(inFlight), [...expected.inFlight])
        assert.sameMembers(ids(inFlight.filter(({ awaitsModel }) => awaitsModel)), [...expected.awaiting])
        assert.strictEqual(nextAt, expected.nextAt)
        assert.includeMembers(ids(expected.eligible), ids(eligible))
        assert.isTrue(model.suffices(eligible, expected.eligible, places - inFlight.length))
        return
      }
      case "TogglePause": {
        const name = workspaces[taken.workspace] ?? "app"
        if (model.paused.delete(name)) yield* control.resume("workspace", name)
        else {
          model.paused.add(name)
          yield* control.pause({ scope: "workspace", name, reason: verbatimReason("deploy"), since: now })
        }
        return
      }
      case "Expire": {
        const expected = model.expire(now - taken.age)
        assert.sameMembers(ids(yield* queue.expire(before(now - taken.age), { _tag: "QueuedTimeout" })), ids(expected))
        return
      }
      case "Pass":
        this.now += taken.millis
    }
  }, Effect.withSpan("Play.take"))

  private pick(index: number): ModelEntry | undefined {
    // The newest entries are the interesting ones; ended ones are included.
    return this.model.entries.at(-1 - (index % Math.max(1, Math.min(6, this.model.entries.length))))
  }

  private lease(index: number): { readonly lease: Lease; readonly entry: ModelEntry } | undefined {
    const lease = this.leases.at(-1 - (index % Math.max(1, Math.min(4, this.leases.length))))
    const entry = this.model.entries.find((one) => one.id === lease?.entryId)
    return lease === undefined || entry === undefined ? undefined : { lease, entry }
  }

  private admission(one: Extract<Step, { _tag: "Admit" }>["items"][number]): QueueAdmission {
    const base = one.baseRef === undefined ? {} : { baseRef: one.baseRef }
    const asked = { ...change(one.target, one.head, workspaceOf(one.target)), ...base }
    return {
      eventId: `event-${one.event}`,
      change: one.person === false ? asked : { ...asked, requestedBy: one.person },
      configHash: "c0ffee",
      priority: one.priority,
      admittedAt: this.now,
      dueAt: this.now + one.delay,
      expires: one.expires
    }
  }
}

const ids = (entries: ReadonlyArray<{ readonly id: string }>) => entries.map((entry) => entry.id)
const cancelledIds = ({ ended, stopping }: Cancelled) => [ids(ended), ids(stopping)]
const renewal = (answer: Renewal) =>
  answer._tag === "Cancelled" ? `Cancelled ${inEnglish(answer.reason)}` : answer._tag
export const workspaces = ["app", "other"]
const workspaceOf = (target: number) => (target === 2 ? "other" : "app")

const finishOf = (how: Extract<Step, { _tag: "Finish" }>["how"], now: number): Finish => {
  switch (how) {
    case "Done":
      return { _tag: "Done" }
    case "Dead":
    case "Cancelled":
      return { _tag: how, reason: verbatimReason(how) }
    case "Retry":
      return { _tag: "Retry", dueAt: now + 10, reason: verbatimReason("503"), counted: true }
    case "Back":
      return { _tag: "Retry", dueAt: now, reason: verbatimReason("stopping"), counted: false }
  }
}
