/** State of a chat connection, as its owner in the cluster last reported it. */
import { Schema } from "effect"
import type { Reason } from "./Reason.ts"

export const ChatConnectionState = Schema.Literals(["ready", "connecting", "failing", "disabled", "unknown"])
export type ChatConnectionState = typeof ChatConnectionState.Type

export interface ChatHealth {
  readonly connection: string
  readonly state: ChatConnectionState
  /** Reason of the state, without secrets. */
  readonly detail: Reason | undefined
  /** Node of the owner. */
  readonly node: string
  readonly since: number
  readonly reportedAt: number
}

/** Reports are repeated every 30 seconds. */
export const reportMillis = 30_000
const staleMillis = 3 * reportMillis

/** Returns `unknown` in place of a state that its owner no longer confirms. */
export const currentState = (health: Pick<ChatHealth, "state" | "reportedAt">, now: number): ChatConnectionState =>
  now - health.reportedAt > staleMillis ? "unknown" : health.state
