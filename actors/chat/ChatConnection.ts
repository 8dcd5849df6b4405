/**
 * Owns one chat connection, one per connection in the cluster: takes its stored requests from step to step (ChatSteps.ts), sends its messages
 * (ChatReply.ts) and reports its health. The store is the truth: what another owner or a crash has interrupted, the next scan continues.
 *
 * Messages: `Wake` (scan now; may be lost and repeated), `ForgetDirectory` (members changed: rights are evaluated with a new listing; if it is
 * lost, after the age of listings). ChatKeeper.ts wakes each configured connection, so that an owner that was lost is
 * replaced within seconds.
 */
import { Cause, Clock, Effect, Equal, Exit, FiberMap, Metric } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import type { ChatClient } from "../../src/chat/ChatClient.ts"
import { ChatClients } from "../../src/chat/ChatClients.ts"
import { Directories } from "../../src/chat/members/Directories.ts"
import { appOfConnection } from "../../src/chat/members/DirectoryApps.ts"
import { textsFor } from "../../src/chat/Texts.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { reportMillis } from "../../src/domain/ChatHealth.ts"
import type { ChatHealth } from "../../src/domain/ChatHealth.ts"
import { chatRequestLifecycle } from "../../src/domain/ChatRequest.ts"
import { inEventTrace } from "../../src/domain/EventTrace.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { chatConnectionReady } from "../../src/observability/Metrics.ts"
import { expiryCutoffs } from "../../src/queue/ExpiryCutoffs.ts"
import { ChatHealths } from "../../src/store/ChatHealths.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import type { ChatRequest } from "../../src/store/ChatRequests.ts"
import { countStart } from "../ActorStarts.ts"
import { makeLink } from "./ChatLink.ts"
import type { ChatLink } from "./ChatLink.ts"
import { sendProgress, sendResult } from "./ChatReply.ts"
import { makeChatSlots } from "./ChatSlots.ts"
import { save, step } from "./ChatSteps.ts"
import type { StepContext } from "./ChatSteps.ts"
import { everyOne } from "../Placement.ts"
import { repeatScan } from "../scheduling/RepeatedScan.ts"

const Wake = Rpc.make("Wake")
const ForgetDirectory = Rpc.make("ForgetDirectory")

export const ChatConnection = Entity.make("ChatConnection", [Wake, ForgetDirectory]).annotate(
  ClusterSchema.ShardGroup,
  everyOne("chat")
)

/** Interval of scans while a review is followed or a message is retried, and without work. */
const followMillis = 500
const idleMillis = 10_000
/** Pause while as many requests as permitted take steps. */
const busyMillis = 5
const maxRequests = 1000
/** Requests that take steps at the same time: their changes share commits, and a slow platform delays only these. */
const concurrentRequests = 64
/** Longest wait of a scan for the steps of its requests, which continue after it. */
const stepsMillis = 250
const checkMillis = 5 * 60_000
/** Wait after a step that failed, and number of failures after which the person is notified. */
const failureMillis = 5000
const maxFailures = 10
/** Upper bound for the steps of one request in one scan: more are a defect. */
const maxSteps = 12

/** State of an owner. Losing it costs only a repeated check. */
class Memory {
  /** Requests that take steps. */
  readonly steps: FiberMap.FiberMap<string, void, never>
  readonly slots = makeChatSlots(concurrentRequests)
  readonly failures = new Map<string, { readonly count: number; readonly until: number }>()
  readonly link: ChatLink
  checkedAt = Number.NEGATIVE_INFINITY
  /** Failure of the last check of the credentials. */
  failure: Reason | undefined
  health: ChatHealth | undefined

  constructor(link: ChatLink, steps: FiberMap.FiberMap<string, void, never>) {
    this.link = link
    this.steps = steps
  }
}

/** Adds the ids of a request, and of the event of its review, to all lines of an effect. */
const withRequest =
  ({ connection, facts, id }: ChatRequest) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(
      inEventTrace(facts.eventId === undefined ? [] : [facts.eventId]),
      Effect.annotateLogs({
        chat_request_id: id,
        connection,
        ...(facts.eventId === undefined ? {} : { event_id: [facts.eventId] })
      })
    )

/** Takes steps until the request waits, ends, or another owner has it. */
const drive = Effect.fnUntraced(function* (context: StepContext, request: ChatRequest) {
  const { client } = context
  let current = request
  for (let taken = 0; taken < maxSteps && !chatRequestLifecycle.isTerminal(current.status); taken++) {
    const next = current.status === "publishing" ? yield* sendResult(client, current) : yield* step(context, current)
    if (next === undefined || next === current) return
    const hasProgress = next.facts.progressText !== undefined && next.facts.progressText !== current.facts.progressText
    const reported = hasProgress && next.status !== "publishing" ? yield* sendProgress(client, next) : next
    if (reported === undefined) return
    current = reported
  }
})

/** Ends a request whose steps fail again and again with a message. */
const giveUp = (snapshot: Snapshot, request: ChatRequest) => {
  const text = textsFor(snapshot.document.review.output_language).failed
  const failed = { reason: { _tag: "CommandFailed" }, result: { outcome: "failed", text } } as const
  const facts = { ...request.facts, ...failed }
  return request.status === "validating" ? save(request, { status: "publishing", facts }) : Effect.void
}

const driveOne = Effect.fnUntraced(function* (memory: Memory, context: StepContext, request: ChatRequest) {
  const now = yield* Clock.currentTimeMillis
  const failed = memory.failures.get(request.id)
  if (failed !== undefined && failed.until > now) return
  const exit = yield* Effect.exit(withRequest(request)(drive(context, request)))
  if (Exit.isSuccess(exit)) {
    memory.failures.delete(request.id)
    return
  }
  if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.interrupt
  const count = (failed?.count ?? 0) + 1
  if (memory.failures.size > maxRequests) memory.failures.clear()
  memory.failures.set(request.id, { count, until: now + failureMillis })
  yield* Effect.logError(
    "chat request failed, retry scheduled",
    { chat_request_id: request.id, connection: request.connection, attempts: count },
    exit.cause
  )
  if (count >= maxFailures) yield* giveUp(context.snapshot, request)
})

/** Starts the steps of requests, and waits for them for a moment: a scan later, those that take longer still run, and others start. */
const driveAll = Effect.fnUntraced(function* (
  memory: Memory,
  snapshot: Snapshot,
  client: ChatClient,
  open: ReadonlyArray<ChatRequest>
) {
  const { slots, steps } = memory
  const context: StepContext = { snapshot, client, awaitListing: slots.without }
  for (const request of open) {
    if (yield* FiberMap.has(steps, request.id)) continue
    const waitingSince = yield* Clock.currentTimeMillis
    while (!(yield* slots.takeIfFree)) {
      if ((yield* Clock.currentTimeMillis) - waitingSince >= stepsMillis) return
      yield* Effect.sleep(busyMillis)
    }
    const driving = driveOne(memory, context, request).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("chat request failed", cause)
      ),
      Effect.ensuring(slots.release)
    )
    yield* FiberMap.run(steps, request.id, driving)
  }
  yield* Effect.raceFirst(FiberMap.awaitEmpty(steps), Effect.sleep(stepsMillis))
})

/** Ends requests that waited too long for a connection that is disabled. */
const expire = Effect.fnUntraced(function* (snapshot: Snapshot, open: ReadonlyArray<ChatRequest>, now: number) {
  const cutoff = expiryCutoffs(snapshot, now).others
  for (const request of open)
    if (
      cutoff !== undefined &&
      request.receivedAt < cutoff &&
      (request.status === "accepted" || request.status === "validating")
    )
      yield* save(request, { status: "expired", facts: { ...request.facts, reason: { _tag: "QueuedTimeout" } } })
})

const setReady = (connection: string, isReady: boolean) =>
  Metric.update(Metric.withAttributes(chatConnectionReady, { connection }), isReady ? 1 : 0)

const report = Effect.fnUntraced(function* (
  memory: Memory,
  connection: string,
  state: ChatHealth["state"],
  detail: Reason | undefined
) {
  const now = yield* Clock.currentTimeMillis
  const known = memory.health
  const isSame = known?.state === state && Equal.equals(known.detail, detail)
  if (isSame && now - known.reportedAt < reportMillis) return
  yield* setReady(connection, state === "ready")
  if (!isSame && state === "failing")
    yield* Effect.logWarning("chat connection does not work", {
      connection,
      detail,
      advice: `aicr chat check ${connection}`
    })
  else if (!isSame) yield* Effect.logInfo("chat connection changed", { connection, state, detail })
  const { name: node } = yield* NodeIdentity
  const health = { connection, state, detail, node, since: isSame ? known.since : now, reportedAt: now }
  yield* (yield* ChatHealths).report(health)
  memory.health = health
})

/** Reports the state of the long connection, if there is one that does not work, otherwise that of the credentials. */
const check = Effect.fnUntraced(function* (memory: Memory, connection: string, client: ChatClient | undefined) {
  if (client === undefined) return yield* report(memory, connection, "disabled", { _tag: "ConnectionUnusable" })
  const link = memory.link.state()
  // The report is that of the later owner.
  if (link?.state === "replaced") return
  if (link !== undefined && link.state !== "ready") return yield* report(memory, connection, link.state, link.detail)
  const now = yield* Clock.currentTimeMillis
  if (now - memory.checkedAt >= checkMillis) {
    memory.checkedAt = now
    memory.failure = yield* Effect.match(client.check, {
      onFailure: ({ why }) => why,
      onSuccess: () => undefined
    })
  }
  yield* report(memory, connection, memory.failure === undefined ? "ready" : "failing", memory.failure)
})

/** Returns the milliseconds until the next scan. */
const scan = Effect.fnUntraced(function* (connection: string, memory: Memory) {
  const snapshot = (yield* ConfigStore).current()
  const session = yield* memory.link.follow(snapshot)
  const client = session?.client ?? (yield* ChatClients).of(snapshot, connection)
  const open = yield* (yield* ChatRequests).open(connection, maxRequests)
  const now = yield* Clock.currentTimeMillis
  if (client === undefined) yield* expire(snapshot, open, now)
  else yield* driveAll(memory, snapshot, client, open)
  yield* check(memory, connection, client)
  return client !== undefined && open.length > 0 ? followMillis : idleMillis
})

const forgetDirectory = Effect.fnUntraced(function* (connection: string) {
  const app = appOfConnection((yield* ConfigStore).current(), connection)
  if (app !== undefined) (yield* Directories).forget(app)
})

const scanOrRetry = (connection: string, memory: Memory) =>
  Effect.catch(scan(connection, memory), (error) =>
    Effect.logError("chat connection not scanned, retry scheduled", { connection, error: error.message }).pipe(
      Effect.as(failureMillis)
    )
  )

export const layer = ChatConnection.toLayer(
  Effect.gen(function* () {
    yield* countStart("ChatConnection")
    const connection = (yield* Entity.CurrentAddress).entityId
    const services = yield* Effect.context<ConfigStore>()
    let scanNow: Effect.Effect<void> = Effect.void
    const memory = new Memory(
      yield* makeLink(connection, {
        changed: Effect.suspend(() => scanNow),
        directoryChanged: Effect.provide(forgetDirectory(connection), services)
      }),
      yield* FiberMap.make<string, void, never>()
    )
    scanNow = yield* repeatScan(scanOrRetry(connection, memory))
    yield* Effect.addFinalizer(() => setReady(connection, false))
    return ChatConnection.of({
      Wake: () => Rpc.fork(scanNow),
      ForgetDirectory: () => Rpc.fork(forgetDirectory(connection))
    })
  }),
  { disableFatalDefects: true, mailboxCapacity: 1024, maxIdleTime: "5 minutes" }
)
