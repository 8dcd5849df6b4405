/**
 * What happens to a change, as it happens: for terminals and live views. Events are dropped when nobody listens and when a
 * listener is slow; records are the truth, this is the commentary.
 */
import { Context, Effect, Layer, PubSub, Stream } from "effect"
import type { Finding } from "../domain/Problem.ts"
import type { PublicationStatus } from "../domain/Publication.ts"
import type { RunStatus } from "../domain/Run.ts"

export interface ChangeLabel {
  readonly workspace: string
  readonly targetKey: string
}

export type ProgressEvent = ChangeLabel & { readonly at: number } & (
    | { readonly _tag: "Started"; readonly runId: string; readonly head: string }
    | { readonly _tag: "CheckedOut"; readonly runId: string; readonly from: string }
    | {
        readonly _tag: "Analysed"
        readonly runId: string
        readonly findings: ReadonlyArray<Finding>
        readonly models: ReadonlyArray<string>
      }
    | {
        readonly _tag: "Published"
        readonly runId: string
        readonly operation: string
        readonly status: PublicationStatus
        readonly url: string | undefined
      }
    | {
        readonly _tag: "Finished"
        readonly runId: string | undefined
        readonly status: RunStatus
        readonly reason: string | undefined
      }
  )

/** A progress event without its time, which is stamped when it is told. */
export type ProgressNews = ProgressEvent extends infer Event
  ? Event extends ProgressEvent
    ? Omit<Event, "at">
    : never
  : never

export class Progress extends Context.Service<
  Progress,
  {
    readonly tell: (news: ProgressNews) => Effect.Effect<void>
    readonly events: Stream.Stream<ProgressEvent>
  }
>()("aicr/observability/Progress") {
  /** At most 1024 events wait for a slow listener; the oldest go first. */
  static readonly layer = Layer.effect(
    Progress,
    Effect.gen(function* () {
      const hub = yield* PubSub.sliding<ProgressEvent>(1024)
      return Progress.of({
        tell: (news) =>
          Effect.clockWith((clock) => PubSub.publish(hub, { ...news, at: clock.currentTimeMillisUnsafe() })).pipe(
            Effect.asVoid
          ),
        events: Stream.fromPubSub(hub)
      })
    })
  )
}
