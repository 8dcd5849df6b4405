/**
 * Keeps the long connection of a chat connection open, as long as the configuration has one and this node owns it: opens it, stores what
 * arrives before it is acknowledged, and opens it again after a pause (src/chat/Reconnect.ts). Each ownership has a number; an owner that was
 * replaced while it was frozen does not connect. Nothing of it is stored: the platform delivers again what was not acknowledged.
 */
import { Clock, Duration, Effect, FiberHandle, Metric, Random, Schedule } from "effect"
import type { ChatSession, ReconnectPacing } from "../../src/chat/ChatSession.ts"
import type { ChatSessionEnd } from "../../src/chat/ChatSession.ts"
import { findSession } from "../../src/chat/ChatSessions.ts"
import { nextConnect } from "../../src/chat/Reconnect.ts"
import { storeInbound } from "../../src/chat/StoreInbound.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { chatCallbacks, chatDisconnects } from "../../src/observability/Metrics.ts"
import { ChatOwners } from "../../src/store/ChatOwners.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"

interface LinkState {
  /** `replaced`: a later owner exists on another node. */
  readonly state: "connecting" | "ready" | "failing" | "replaced"
  readonly detail: Reason | undefined
}

export interface ChatLink {
  /** Applies the current configuration. Returns the long connection that it has. */
  readonly follow: (snapshot: Snapshot) => Effect.Effect<ChatSession | undefined>
  /** Undefined without a long connection. */
  readonly state: () => LinkState | undefined
}

const pause = Schedule.spaced(Duration.seconds(2))
/** Pause of an owner that was replaced. The cluster usually ends it before. */
const replacedPauseMillis = 60_000

/** Facts of the attempts of one loop. */
class Attempts {
  failures = 0
  isReady = false
  kickedAt: number | undefined
  pacing: ReconnectPacing | undefined

  ready(pacing: ReconnectPacing | undefined): void {
    this.failures = 0
    this.isReady = true
    this.pacing = pacing
  }

  /** Returns the pause until the next attempt; undefined for none. */
  end({ reason }: ChatSessionEnd, now: number, random: number): number | undefined {
    this.failures += 1
    const kickedBeforeMillis = this.kickedAt === undefined ? undefined : now - this.kickedAt
    if (reason === "kicked") this.kickedAt = now
    const { failures, isReady: wasReady, pacing } = this
    this.isReady = false
    return nextConnect({ reason, failures, wasReady, kickedBeforeMillis, pacing }, random)
  }
}

/** `changed`: called when the state changes or a message was stored. `directoryChanged`: when members or departments changed. */
export const makeLink = Effect.fnUntraced(function* (
  connection: string,
  { changed, directoryChanged }: Readonly<Record<"changed" | "directoryChanged", Effect.Effect<void>>>
) {
  const fiber = yield* FiberHandle.make()
  const requests = yield* ChatRequests
  const owners = yield* ChatOwners
  const { name: node } = yield* NodeIdentity
  let session: ChatSession | undefined
  let current: LinkState | undefined

  const notify = Effect.forkDetach(changed)
  const become = (state: LinkState["state"], detail?: Reason) =>
    Effect.suspend(() => {
      current = { state, detail }
      return Effect.asVoid(notify)
    })

  const handlersFor = (kind: string, attempts: Attempts) => ({
    receive: (inbound: Parameters<typeof storeInbound>[2]) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => storeInbound(requests, connection, inbound, now)).pipe(
        Effect.tap((outcome) => Metric.update(Metric.withAttributes(chatCallbacks, { kind, outcome }), 1)),
        Effect.tap((outcome) => (outcome === "ignored" ? Effect.void : notify)),
        Effect.tap(() => (inbound._tag === "DirectoryChanged" ? directoryChanged : Effect.void)),
        Effect.tapError((error) =>
          Effect.logError("chat message not stored", { connection, error: error.message, suppressed: 0 })
        )
      ),
    ready: (pacing: ReconnectPacing | undefined) =>
      Effect.suspend(() => {
        const wasReady = attempts.isReady
        attempts.ready(pacing)
        return wasReady ? Effect.void : become("ready")
      })
  })

  /** Waits until this node is the owner. Returns the number of its ownership. */
  const claim = Effect.retry(owners.claim(connection, node), { schedule: pause })

  const keep = Effect.fnUntraced(function* ({ run }: ChatSession, kind: string) {
    const attempts = new Attempts()
    let epoch = yield* claim
    for (;;) {
      if (!(yield* Effect.retry(owners.isCurrent(connection, epoch), { schedule: pause }))) {
        yield* become("replaced")
        yield* Effect.sleep(replacedPauseMillis)
        epoch = yield* claim
      }
      yield* become("connecting", current?.detail)
      const end = yield* Effect.flip(run(handlersFor(kind, attempts)))
      yield* Metric.update(Metric.withAttributes(chatDisconnects, { connection, reason: end.reason }), 1)
      const wait = attempts.end(end, yield* Clock.currentTimeMillis, yield* Random.next)
      yield* Effect.logWarning("long connection of chat ended", {
        connection,
        reason: end.reason,
        error: end.why,
        retry_in_ms: wait === undefined ? undefined : Math.round(wait)
      })
      yield* become("failing", wait === undefined ? { _tag: "ClosedForGood", why: end.why } : end.why)
      if (wait === undefined) return
      yield* Effect.sleep(wait)
    }
  })

  const follow = Effect.fnUntraced(function* (snapshot: Snapshot) {
    const wanted = findSession(snapshot, connection, session)
    if (wanted === session) return session
    session = wanted
    current = wanted === undefined ? undefined : { state: "connecting", detail: undefined }
    const kind = snapshot.document.im.connections[connection]?.kind ?? "none"
    yield* wanted === undefined ? FiberHandle.clear(fiber) : FiberHandle.run(fiber, keep(wanted, kind))
    return session
  })
  return { follow, state: () => current } satisfies ChatLink
})
