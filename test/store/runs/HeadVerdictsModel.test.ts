/**
 * Random histories of pull requests that share their heads: changes that wait in the queue, and are replaced, cancelled or expire there; reviews
 * that begin, find something, are skipped, cancelled, lost or refused by the host; publishers that write the statuses in any order, are
 * killed at any step, or are frozen while another one takes over; runs that are removed. Whenever the status of a head is green, the last
 * review is clean for each base branch that the head was reviewed against, and none waits for its first review. In the end a head fails
 * only if one of its last reviews did, and is pending only while one waits.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"
import { currentStatus, recordUnreviewed } from "../../../actors/publishing/HeadStatus.ts"
import { sendingFirst } from "../../../actors/publishing/PublishDecision.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import type { PublisherToken } from "../../../src/domain/FencingToken.ts"
import { endDescriptions, expiredVerdict, pendingVerdict, repeatedStatus } from "../../../src/domain/HeadVerdict.ts"
import type { RunVerdict } from "../../../src/domain/HeadVerdict.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import type { Publication, StatusState } from "../../../src/domain/Publication.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import type { Reason } from "../../../src/domain/Reason.ts"
import { runLifecycle } from "../../../src/domain/Run.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { statusEnd } from "../../../src/outputs/StatusEnd.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { selectUnreviewed } from "../../../src/queue/UnreviewedHeads.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { actorStores, testSnapshotWith } from "../../harness/ActorParts.ts"
import { analysis, change, publication } from "../Fixtures.ts"
import { quietOutputs } from "../../actors/publishing/QuietOutputs.ts"

const outputs = Layer.succeed(
  Outputs,
  Outputs.of({
    ...quietOutputs,
    status: ({ head, runId, targetKey: target }, state, description) => [
      publication({
        id: newId(),
        operationId: OperationId.make(newId()),
        runId,
        targetKey: target,
        operation: { _tag: "Status", head, state, description }
      })
    ],
    find: () => Effect.undefined,
    send: () => Effect.die("the model writes itself")
  })
)
const world = Layer.mergeAll(actorStores(), outputs, Layer.succeed(ConfigStore, testSnapshotWith("app", "t")))

/** AICR_TEST_SCALE makes it as many times longer. */
const scale = Number(process.env["AICR_TEST_SCALE"] ?? 1)
const sequences = 100
const pulls = [1, 2, 3] as const
const heads = ["1".repeat(40), "2".repeat(40)] as const
const bases = ["main", "side", "next"] as const
const token = LeaseToken.make(1)

const pull = fc.constantFrom(...pulls)
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      _tag: fc.constant("Begin" as const),
      pull,
      head: fc.constantFrom(...heads),
      base: fc.constantFrom(...bases)
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      _tag: fc.constant("End" as const),
      pull,
      end: fc.constantFrom(
        "clean",
        "clean",
        "clean",
        "clean",
        "problems",
        "unread",
        "failed",
        "cancelled",
        "closed",
        "skipped",
        "superseded",
        "unpublished"
      )
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      _tag: fc.constant("Wait" as const),
      pull,
      head: fc.constantFrom(...heads),
      base: fc.constantFrom(...bases),
      isLost: fc.boolean()
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      _tag: fc.constant("Drop" as const),
      pull,
      end: fc.constantFrom("superseded", "cancelled", "closed", "expired")
    })
  },
  { weight: 8, arbitrary: fc.record({ _tag: fc.constant("Write" as const), pull }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("Kill" as const), pull }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("Freeze" as const), pull }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("Prune" as const), keep: fc.integer({ min: 1, max: 4 }) }) }
)
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

const found: Readonly<Record<"clean" | "problems" | "unread", StatusState>> = {
  clean: "success",
  problems: "failure",
  unread: "neutral"
}

interface Unfinished {
  readonly id: string
  readonly head: string
  readonly base: string
}

/** A change that waits in the queue. */
interface Waiting {
  readonly entryId: string
  readonly head: string
  readonly base: string
}

/** A publisher: what it does next with the row that it is sending. */
interface Publisher {
  token: PublisherToken | undefined
  row: Publication | undefined
  /** The status that it is about to write. */
  state: StatusState | undefined
}

const closed: Reason = { _tag: "PullRequestClosed" }

const isOpen = ({ status }: Publication) => status === "pending" || status === "unknown" || status === "sending"

const play = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
  const runs = yield* Runs
  const outbox = yield* Outbox
  const queue = yield* Queue
  const snapshot = (yield* ConfigStore).current()
  const waiting = new Map<number, Waiting>()
  const running = new Map<number, Unfinished>()
  const publishers = new Map<number, Publisher>(
    pulls.map((number) => [number, { token: undefined, row: undefined, state: undefined }])
  )
  /** Publishers that are frozen right before their write. */
  const frozen: Array<{ readonly row: Publication; readonly state: StatusState }> = []
  const host = new Map<string, StatusState>()
  /** The last results by head, pull request and base branch. */
  const last = new Map<string, Map<string, StatusState>>(heads.map((head) => [head, new Map()]))
  const written: Array<string> = []
  let now = 0

  const subjectOf = (number: number, { base, head }: Pick<Unfinished, "base" | "head">) => ({
    ...change(number, head),
    trigger: "t",
    baseRef: base
  })
  const keyOf = (number: number) => targetKey(subjectOf(number, { base: "", head: "" }))
  const plan = (number: number, { id, head }: Unfinished, state: StatusState, description: Reason) =>
    outbox.add(
      [
        publication({
          id: newId(),
          operationId: OperationId.make(newId()),
          runId: id,
          targetKey: keyOf(number),
          operation: { _tag: "Status", head, state, description }
        })
      ],
      ++now
    )

  /** Ends a waiting entry without a review, as housekeeping does. */
  const drop = Effect.fnUntraced(function* (number: number, how: "superseded" | "cancelled" | "closed" | "expired") {
    const entry = waiting.get(number)
    if (entry === undefined) return
    waiting.delete(number)
    yield* queue.cancel(keyOf(number), verbatimReason(how))
    const [run] = yield* runs.list({ targetKey: keyOf(number), statuses: ["queued"], limit: 1 })
    if (run === undefined) return
    const verdict = how === "expired" ? expiredVerdict(run.verdict) : undefined
    const to = how === "cancelled" || how === "closed" ? "cancelled" : "skipped"
    yield* runs.move(run.id, token, to, ++now, how === "closed" ? closed : undefined, verdict)
    if (how === "cancelled" || how === "expired") last.get(entry.head)?.set(`${number} ${entry.base}`, "failure")
    const ended = yield* runs.get(run.id)
    assert(ended !== undefined)
    const row = statusEnd(ended, yield* outbox.ofRun(run.id), ended)
    if (row !== undefined) yield* outbox.add([row], ++now)
  })

  /** Queues a change. The message about it may be lost. */
  const wait = Effect.fnUntraced(function* (number: number, head: string, base: string, isLost: boolean) {
    const subject = subjectOf(number, { head, base })
    yield* drop(number, "superseded")
    const item = { eventId: newId(), change: subject, configHash: snapshot.hash, priority: 10 }
    const [admitted] = yield* queue.admit([{ ...item, admittedAt: ++now, dueAt: now }])
    assert(admitted !== undefined)
    waiting.set(number, { entryId: admitted.entryId, head, base })
    if (!isLost) yield* sweep(number)
  })

  /** Marks a waiting change, as its message or housekeeping does. */
  const sweep = Effect.fnUntraced(function* (number: number) {
    const entry = waiting.get(number)
    if (entry === undefined) return
    const selected = yield* selectUnreviewed([{ entryId: entry.entryId, change: subjectOf(number, entry) }])
    for (const { entryId } of selected) yield* recordUnreviewed(entryId)
  })

  const begin = Effect.fnUntraced(function* (number: number, newest: string, into: string) {
    if (running.has(number)) return
    const entry = waiting.get(number)
    const { base, entryId, head } = entry ?? { head: newest, base: into, entryId: newId() }
    if (entry !== undefined) {
      yield* queue.promote([entryId], ++now)
      const claimed = yield* queue.claim(entryId, "node", now, 1000)
      assert(claimed !== undefined)
      yield* queue.finish(claimed.lease, { _tag: "Done" })
      waiting.delete(number)
    }
    const subject = subjectOf(number, { head, base })
    const verdict = pendingVerdict(verbatimReason("Review in progress"))
    const begun = { entryId, workspace: "app", change: subject, head, base: "b", configHash: snapshot.hash, verdict }
    const opened = yield* runs.open({ ...begun, targetKey: targetKey(subject) }, token, ++now)
    const run = yield* runs.begin({ ...begun, targetKey: targetKey(subject) }, token, ++now)
    assert(run !== undefined)
    assert.strictEqual(run.id, opened?.id)
    running.set(number, { id: run.id, head, base })
    yield* plan(number, { id: run.id, head, base }, "pending", verbatimReason("Review in progress"))
  })

  const end = Effect.fnUntraced(function* (number: number, how: string) {
    const run = running.get(number)
    if (run === undefined) return
    running.delete(number)
    const results = last.get(run.head)
    const key = `${number} ${run.base}`
    if (how === "clean" || how === "problems" || how === "unread" || how === "unpublished") {
      const state = how === "unpublished" ? "success" : found[how]
      const verdict: RunVerdict = {
        state,
        description: verbatimReason(how),
        isShown: true,
        isClean: state === "success"
      }
      yield* runs.move(run.id, token, "analyzing", ++now)
      assert.isTrue(yield* runs.complete(run.id, token, analysis, [], ++now, verdict))
      yield* runs.settle(run.id, how === "unpublished" ? "failed" : "succeeded", { partial: false }, ++now)
      results?.set(key, how === "unpublished" ? "failure" : state)
      yield* plan(number, run, how === "unpublished" ? "failure" : state, verbatimReason(how))
    } else if (how === "failed" || how === "cancelled") {
      yield* runs.move(run.id, token, how, ++now)
      results?.set(key, "failure")
      yield* plan(number, run, "failure", endDescriptions[how])
    } else if (how === "closed") {
      yield* runs.move(run.id, token, "cancelled", ++now, closed)
      yield* plan(number, run, "neutral", endDescriptions.closed)
    } else {
      yield* runs.move(run.id, token, "skipped", ++now)
      yield* plan(number, run, "neutral", verbatimReason(how))
    }
  })

  /** Returns the waiting changes of a head that was never reviewed for them. */
  const listUnreviewed = (head: string) =>
    [...waiting].filter(([number, entry]) => entry.head === head && !last.get(head)?.has(`${number} ${entry.base}`))

  const demanded = Effect.fnUntraced(function* (row: Publication) {
    const run = yield* runs.get(row.runId)
    const { operation } = row
    assert(operation._tag === "Status")
    // Removed with its run: the publisher drops it.
    if (run === undefined) return undefined
    return (yield* currentStatus(run, snapshot, operation)).status.state
  })

  /** Compares a green write with the model. A review that began since the records were read writes its own status later. */
  const write = (row: Publication, state: StatusState) => {
    assert(row.operation._tag === "Status")
    host.set(row.operation.head, state)
    written.push(`${row.operation.head.slice(0, 1)} ${state}`)
  }

  /** Takes the next step of a publisher: starts its oldest row, writes, or records that it is written. */
  const publish = Effect.fnUntraced(function* (number: number) {
    const publisher = publishers.get(number)
    assert(publisher !== undefined)
    publisher.token ??= (yield* outbox.takeOver(keyOf(number), ++now)).token
    const { row } = publisher
    if (row === undefined) {
      const [next] = sendingFirst(yield* outbox.open(keyOf(number)))
      if (next === undefined) return false
      if (next.status === "sending") {
        yield* outbox.move(next.id, "sending", { status: "unknown" }, publisher.token, ++now)
        return true
      }
      if ((yield* outbox.startStatus(next, next.status, publisher.token, ++now)) !== "started") return false
      const state = yield* demanded(next)
      if (state === undefined) {
        yield* outbox.move(next.id, "sending", { status: "failed" }, publisher.token, ++now)
        return true
      }
      publisher.row = next
      publisher.state = state
      assert(next.operation._tag === "Status")
      if (state === "success") {
        const results = [...(last.get(next.operation.head)?.values() ?? [])]
        assert.isTrue(
          results.every((result) => result === "success"),
          `green over ${results.join()}`
        )
        const inProgress = [...running.values()].filter(
          (run) => next.operation._tag === "Status" && run.head === next.operation.head
        )
        assert.deepStrictEqual(inProgress, [], "green during a review")
        assert.deepStrictEqual(listUnreviewed(next.operation.head), [], "green before a first review")
      }
      return true
    }
    if (publisher.state !== undefined) {
      write(row, publisher.state)
      publisher.state = undefined
      return true
    }
    publisher.row = undefined
    assert.isTrue(yield* outbox.move(row.id, "sending", { status: "sent" }, publisher.token, ++now))
    return true
  })

  /** A frozen publisher wakes up and writes, although another one has its target, and repeats the status. */
  const wake = Effect.gen(function* () {
    for (const { row, state } of frozen.splice(0)) {
      write(row, state)
      const run = yield* runs.get(row.runId)
      assert(run !== undefined && row.operation._tag === "Status")
      const operation = repeatedStatus(
        row.operation,
        run.verdict,
        run.analysis !== undefined || runLifecycle.isTerminal(run.status)
      )
      const again = {
        ...row,
        id: newId(),
        operationId: OperationId.make(newId()),
        operation,
        status: "pending"
      } as const
      yield* outbox.add([again], ++now)
    }
  })

  const take = Effect.fnUntraced(function* (taken: Step) {
    switch (taken._tag) {
      case "Begin":
        return yield* begin(taken.pull, taken.head, taken.base)
      case "Wait":
        return yield* wait(taken.pull, taken.head, taken.base, taken.isLost)
      case "Drop":
        return yield* drop(taken.pull, taken.end)
      case "End":
        return yield* end(taken.pull, taken.end)
      case "Write":
        yield* publish(taken.pull)
        return
      case "Kill":
        publishers.set(taken.pull, { token: undefined, row: undefined, state: undefined })
        return
      case "Freeze": {
        const { row, state } = publishers.get(taken.pull) ?? {}
        if (row === undefined || state === undefined) return
        frozen.push({ row, state })
        publishers.set(taken.pull, { token: undefined, row: undefined, state: undefined })
        return
      }
      case "Prune":
        // Runs are kept for longer than it takes to write their statuses.
        if ((yield* outbox.targets).length > 0) return
        yield* runs.prune({ maxCount: taken.keep, before: 0 })
    }
  })

  for (const taken of steps) yield* take(taken)
  yield* wake
  for (const number of pulls) {
    yield* end(number, "skipped")
    yield* sweep(number)
  }
  let more = true
  while (more) {
    more = false
    for (const number of pulls) more = (yield* publish(number)) || more
  }
  for (const number of pulls) {
    const open = (yield* outbox.open(keyOf(number))).filter(isOpen)
    assert.deepStrictEqual(open, [])
  }
  for (const head of heads) {
    const results = [...(last.get(head)?.values() ?? [])]
    const state = host.get(head)
    const context = `${head.slice(0, 1)}: ${results.join()} is ${state}; ${written.join(", ")}`
    if (state === "success") assert.isTrue(results.length > 0 && results.every((one) => one === "success"), context)
    if (state === "success") assert.deepStrictEqual(listUnreviewed(head), [], context)
    if (results.includes("failure")) assert.strictEqual(state, "failure", context)
    else assert.notStrictEqual(state, "failure", context)
    const waits = [...waiting.values()].some((entry) => entry.head === head)
    if (!waits) assert.notStrictEqual(state, "pending", context)
  }
})

it.effect("a head is green only while each of its last reviews is clean, in any order and with any loss", () =>
  Effect.promise(() =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), (steps) =>
        Effect.runPromise(play(steps).pipe(Effect.provide(Layer.fresh(world)), Effect.scoped))
      ),
      { numRuns: sequences * scale, endOnFailure: false }
    )
  )
)
