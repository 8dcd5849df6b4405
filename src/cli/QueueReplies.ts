/** The parts of responses about the queue that commands print. */
import { Schema } from "effect"

export const QueueItem = Schema.Struct({
  id: Schema.String,
  status: Schema.String,
  why: Schema.String,
  until: Schema.optionalKey(Schema.String),
  workspace: Schema.String,
  target_key: Schema.String
})
export type QueueItem = typeof QueueItem.Type

export const HeldBatch = Schema.Struct({
  id: Schema.String,
  status: Schema.String,
  workspace: Schema.String,
  stream: Schema.String,
  commits: Schema.Int,
  due_at: Schema.String
})
export type HeldBatch = typeof HeldBatch.Type

export const QueuePause = Schema.Struct({
  scope: Schema.String,
  name: Schema.String,
  reason: Schema.String,
  since: Schema.String
})
export type QueuePause = typeof QueuePause.Type

export const QueuePage = Schema.Struct({
  items: Schema.Array(QueueItem),
  next_cursor: Schema.NullOr(Schema.String),
  pauses: Schema.Array(QueuePause),
  held_batches: Schema.Array(HeldBatch)
})
export type QueuePage = typeof QueuePage.Type

export const Drained = Schema.Struct({ running: Schema.Int })
