/** Messages of a channel (see AskChannel): requests to actors and their replies, without the layer of RPC around them. */
import { Schema } from "effect"
import { EntityAddress, EntityId, EntityType, ShardId, Snowflake } from "effect/cluster"
import type { Envelope } from "effect/cluster"
import { Headers } from "effect/http"
import { RpcSerialization } from "effect/rpc"

export const { codecFor } = RpcSerialization.json

/** A request: `Tell` completes when the actor has received it, `Ask` when the actor has replied. */
export interface Ask {
  readonly _tag: "Ask" | "Tell"
  readonly id: number
  readonly request: Request
}
/** Cancels a request: its caller no longer waits for the reply. */
export interface Stop {
  readonly _tag: "Stop"
  readonly id: number
}
export type FromCaller = Ask | Stop

export type FromRunner =
  | { readonly _tag: "Replied"; readonly id: number; readonly reply: unknown }
  | { readonly _tag: "Delivered"; readonly id: number }
  | { readonly _tag: "Refused"; readonly id: number; readonly why: AskRefusal }
  | { readonly _tag: "Failed"; readonly id: number; readonly defect: unknown }

export type AskRefusal = "EntityNotAssignedToRunner" | "MailboxFull" | "AlreadyProcessingMessage"

interface Request {
  readonly requestId: string
  readonly group: string
  readonly shard: number
  readonly type: string
  readonly entity: string
  readonly tag: string
  readonly payload: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly trace?: readonly [traceId: string, spanId: string, sampled: boolean]
}

export const pack = (request: Envelope.PartialRequest): Request => {
  const { address, headers, traceId, spanId, sampled } = request
  return {
    requestId: String(request.requestId),
    group: address.shardId.group,
    shard: address.shardId.id,
    type: address.entityType,
    entity: address.entityId,
    tag: request.tag,
    payload: request.payload,
    ...(Object.keys(headers).length === 0 ? {} : { headers: { ...headers } }),
    ...(traceId === undefined || spanId === undefined ? {} : { trace: [traceId, spanId, sampled ?? true] })
  }
}

export const unpack = (request: Request): Envelope.PartialRequest => ({
  _tag: "Request",
  requestId: Snowflake.Snowflake(request.requestId),
  address: EntityAddress.EntityAddress.make(
    {
      shardId: ShardId.make(request.group, request.shard),
      entityType: EntityType.make(request.type),
      entityId: EntityId.make(request.entity)
    },
    // The sending node has checked it.
    { disableChecks: true }
  ),
  tag: request.tag,
  payload: request.payload,
  headers: request.headers === undefined ? Headers.empty : Headers.fromRecordUnsafe(request.headers),
  ...(request.trace === undefined
    ? {}
    : { traceId: request.trace[0], spanId: request.trace[1], sampled: request.trace[2] })
})

export const encodeDefect = Schema.encodeSync(codecFor(Schema.Defect()))
export const decodeDefect = Schema.decodeUnknownSync(codecFor(Schema.Defect()))

const tagsOf =
  (tags: ReadonlySet<string>) =>
  (message: unknown): boolean =>
    typeof message === "object" && message !== null && "_tag" in message && tags.has(String(message._tag))

const callerTags: ReadonlySet<string> = new Set(["Ask", "Tell", "Stop"])
const isOfCaller = tagsOf(callerTags)
export const isFromCaller = (message: unknown): message is FromCaller => isOfCaller(message)

const runnerTags: ReadonlySet<string> = new Set(["Replied", "Delivered", "Refused", "Failed"])
const isOfRunner = tagsOf(runnerTags)
export const isFromRunner = (message: unknown): message is FromRunner => isOfRunner(message)
