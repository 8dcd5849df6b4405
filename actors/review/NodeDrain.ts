/**
 * Watches whether this node accepts work. An operator drains a node by pausing it in the queue (QueueControl.pause, scope `node`). The node
 * finishes running reviews and takes no more until it is resumed, also after a restart.
 */
import { Effect, Latch, Stream } from "effect"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import { findPause, QueueControl } from "../../src/queue/operator/QueueControl.ts"
import type { Pause } from "../../src/queue/operator/QueueControl.ts"

/** Returns a latch that is open while the node accepts work, and updates it while the scope is open. */
export const watchDrain = Effect.gen(function* () {
  const { name } = yield* NodeIdentity
  const control = yield* QueueControl
  const open = Latch.makeUnsafe(true)
  const follow = Effect.fnUntraced(function* (pauses: ReadonlyArray<Pause>) {
    const drained = findPause(pauses, "node", name)
    if ((drained === undefined) === open.isOpen()) return
    if (drained === undefined) {
      yield* open.open
      yield* Effect.logInfo("node resumed", { node: name })
    } else {
      yield* open.close
      yield* Effect.logWarning("node drained, it takes no work until it is resumed", {
        node: name,
        reason: drained.reason
      })
    }
  })
  yield* control.pauses.pipe(
    Effect.flatMap(follow),
    Effect.catch((error) =>
      Effect.logDebug("drain state of the node unavailable", { node: name, error: error.message })
    )
  )
  yield* Effect.forkScoped(Stream.runForEach(control.watchPauses, follow))
  return open
})
