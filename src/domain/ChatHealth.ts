/** State of a chat connection, as its owner in the cluster last reported it. */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { record } from "./Record.ts"
import type { RecordValues } from "./Record.ts"

export const ChatConnectionState = Schema.Literals(["ready", "connecting", "failing", "disabled", "unknown"])
export type ChatConnectionState = typeof ChatConnectionState.Type

const isState = Schema.is(ChatConnectionState)

/** A state of another release is unknown. */
const state: Field.Field<ChatConnectionState, ChatConnectionState, false> = {
  ...Field.stored(ChatConnectionState),
  column: Schema.String,
  fromColumn: (decoded) => (isState(decoded) ? decoded : "unknown")
}

export const ChatHealth = record({
  connection: Field.text,
  state,
  /** Reason of the state, without secrets. */
  detail: Field.optional(Field.reason),
  /** Node of the owner. */
  node: Field.text,
  since: Field.integer,
  reportedAt: Field.integer
})
export type ChatHealth = RecordValues<typeof ChatHealth>

/** Reports are repeated every 30 seconds. */
export const reportMillis = 30_000
const staleMillis = 3 * reportMillis

/** Returns `unknown` in place of a state that its owner no longer confirms. */
export const currentState = (health: Pick<ChatHealth, "state" | "reportedAt">, now: number): ChatConnectionState =>
  now - health.reportedAt > staleMillis ? "unknown" : health.state
