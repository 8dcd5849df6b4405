/**
 * Notifies operators of a configuration that this node refuses. Every node watches its own; the key of the notice is the digest of the file
 * or the revision, so that the nodes of a cluster send one.
 */
import { Clock, Duration, Effect, Layer, Schedule } from "effect"
import { awaitSnapshot } from "../../src/config/AwaitSnapshot.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { NoticeFacts } from "../../src/domain/Notice.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import { logFailure } from "../../src/observability/LimitedWarnings.ts"
import { hasNoticeRoutes, planNotices } from "../../src/outputs/PlanNotices.ts"
import { Notices } from "../../src/store/Notices.ts"

const watchInterval = Duration.seconds(2)

/** Returns the facts of what the node refuses now. Messages of the validation are not among them: they may quote values. */
export const refusedFacts = (
  config: Pick<ConfigStore["Service"], "refused" | "refusedRevision">,
  node: string
): ReadonlyArray<NoticeFacts> => {
  const [document, revision] = [config.refused(), config.refusedRevision()]
  const facts: Array<NoticeFacts> = []
  if (document !== undefined) {
    const { digest, errors, file, line } = document
    const shared = { _tag: "config_refused", source: "file", name: file, digest, errors, node } as const
    facts.push(line === undefined ? shared : { ...shared, line })
  }
  if (revision !== undefined) {
    const { errors, head } = revision
    const digest = `${head.number}:${head.hash}`
    facts.push({ _tag: "config_refused", source: "revision", name: String(head.number), digest, errors, node })
  }
  return facts
}

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* ConfigStore
    const notices = yield* Notices
    const { name: node } = yield* NodeIdentity
    let stored = ""
    const watch = Effect.gen(function* () {
      const planned = refusedFacts(config, node).flatMap((facts) => planNotices(config.current(), facts))
      const keys = planned.map(({ channel, key }) => `${channel} ${key}`).join("\n")
      if (keys !== stored) yield* notices.add(planned, yield* Clock.currentTimeMillis)
      stored = keys
    }).pipe(
      Effect.catch(logFailure("notice of a refused configuration not stored, retry scheduled", {}, { level: "Error" }))
    )
    yield* watch.pipe(
      Effect.andThen(awaitSnapshot(hasNoticeRoutes)),
      Effect.repeat(Schedule.spaced(watchInterval)),
      Effect.forkScoped
    )
  })
)
