/**
 * Publishes the progress of reviews for terminals and live views. Events are dropped without a listener and for slow listeners; the records
 * are the source of truth.
 */
import { Context, Effect, Layer, PubSub, Schema, Stream } from "effect"
import { TargetKey } from "../domain/Keys.ts"
import { Usd } from "../domain/Money.ts"
import { Finding } from "../domain/Problem.ts"
import { PublicationStatus } from "../domain/Publication.ts"
import { Reason } from "../domain/Reason.ts"
import { RunStatus } from "../domain/Run.ts"

const about = { workspace: Schema.String, targetKey: TargetKey, at: Schema.Number }

/** Defined as a schema, because events are also sent between nodes. */
export const ProgressEvent = Schema.Union([
  Schema.TaggedStruct("Started", { ...about, runId: Schema.String, head: Schema.String }),
  Schema.TaggedStruct("CheckedOut", { ...about, runId: Schema.String, from: Schema.String }),
  /** Progress of an agent CLI in one pass, numbered from 1. */
  Schema.TaggedStruct("Working", {
    ...about,
    runId: Schema.String,
    pass: Schema.Int,
    /** Mode of the agent. */
    agent: Schema.String,
    toolCalls: Schema.Int,
    problems: Schema.Int,
    inputTokens: Schema.Int,
    outputTokens: Schema.Int,
    /** Absent if a price is unknown. */
    costUsd: Schema.optional(Usd)
  }),
  Schema.TaggedStruct("Analysed", {
    ...about,
    runId: Schema.String,
    problems: Schema.Int,
    /** Absent in an event of another node: findings stay in the records. */
    findings: Schema.optional(Schema.Array(Finding)),
    models: Schema.Array(Schema.String)
  }),
  Schema.TaggedStruct("Published", {
    ...about,
    runId: Schema.String,
    operation: Schema.String,
    status: PublicationStatus,
    url: Schema.optional(Schema.String)
  }),
  Schema.TaggedStruct("Finished", {
    ...about,
    runId: Schema.optional(Schema.String),
    status: RunStatus,
    reason: Schema.optional(Reason)
  })
])
export type ProgressEvent = typeof ProgressEvent.Type

/** A progress event without its time, which is set on publication. */
export type ProgressNews = ProgressEvent extends infer Event
  ? Event extends ProgressEvent
    ? Omit<Event, "at">
    : never
  : never

export class Progress extends Context.Service<
  Progress,
  {
    readonly publish: (news: ProgressNews) => Effect.Effect<void>
    readonly events: Stream.Stream<ProgressEvent>
  }
>()("aicr/observability/Progress") {
  /** Keeps at most 1024 events for a slow listener; the oldest are dropped. */
  static readonly layer = Layer.effect(
    Progress,
    Effect.gen(function* () {
      const hub = yield* PubSub.sliding<ProgressEvent>(1024)
      return Progress.of({
        publish: (news) =>
          Effect.clockWith((clock) => PubSub.publish(hub, { ...news, at: clock.currentTimeMillisUnsafe() })).pipe(
            Effect.asVoid
          ),
        events: Stream.fromPubSub(hub)
      })
    })
  )
}
