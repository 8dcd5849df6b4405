/**
 * Reasons: why an entry waits, a run ended, a delivery was ignored, a message was not sent, a field was refused. Records, the API and events
 * carry the tag and its parameters. The text is made where it is shown, from `src/text/en.ts` or `src/text/zh.ts`; no code compares texts.
 *
 * A reason without a text in each language does not compile, nor does a text without a reason.
 */
import { joinTables } from "./JoinTables.ts"
import { Predicate, Schema, SchemaTransformation } from "effect"
import type { Params } from "./ReasonParams.ts"
import { isParam } from "./ReasonParams.ts"
import { chatReasons } from "./reasons/Chat.ts"
import { checkReasons } from "./reasons/Check.ts"
import { configurationReasons } from "./reasons/Configuration.ts"
import { conversationReasons } from "./reasons/Conversation.ts"
import { deliveryReasons } from "./reasons/Delivery.ts"
import { checkoutReasons } from "./reasons/Checkout.ts"
import { hostReasons } from "./reasons/Host.ts"
import { modelReasons } from "./reasons/Model.ts"
import { nodeReasons } from "./reasons/Node.ts"
import { noticeReasons } from "./reasons/Notice.ts"
import { originReasons } from "./reasons/Origin.ts"
import { personReasons } from "./reasons/Person.ts"
import { publicationReasons } from "./reasons/Publication.ts"
import { queueReasons } from "./reasons/Queue.ts"
import { refusalReasons } from "./reasons/Refusal.ts"
import { reviewReasons } from "./reasons/Review.ts"
import { runReasons } from "./reasons/Run.ts"
import { sandboxReasons } from "./reasons/Sandbox.ts"
import { providerReasons } from "./reasons/Provider.ts"
import { statusReasons } from "./reasons/Status.ts"
import { statementReasons } from "./reasons/Statement.ts"
import { storeReasons } from "./reasons/Store.ts"
import { truncate } from "./Text.ts"

/**
 * `Text`: the words of a person, a host, a model or a program, shown as they are in every language. `Unknown`: a reason of another release.
 * `Several`: reasons that hold together.
 */
const verbatim = {
  Text: { text: "text" },
  Unknown: { tag: "text" },
  Several: { reasons: "reasons" }
} as const satisfies Record<string, Params>

/** Parameters by tag. A new reason is a row of one of these tables, and a text in each language. */
export const reasons = joinTables(
  verbatim,
  chatReasons,
  checkoutReasons,
  conversationReasons,
  deliveryReasons,
  hostReasons,
  modelReasons,
  nodeReasons,
  noticeReasons,
  originReasons,
  personReasons,
  publicationReasons,
  queueReasons,
  checkReasons,
  refusalReasons,
  configurationReasons,
  reviewReasons,
  runReasons,
  sandboxReasons,
  providerReasons,
  statementReasons,
  statusReasons,
  storeReasons
)

export type ReasonTag = keyof typeof reasons

/** Tags without parameters, which are one member of the union: the compiler limits their number. */
type BareTag = { readonly [Tag in ReasonTag]: keyof (typeof reasons)[Tag] extends never ? Tag : never }[ReasonTag]

export type Reason = { readonly _tag: BareTag } | ReasonWith<Exclude<ReasonTag, BareTag>>

/** Reasons with one of these tags. */
export type ReasonWith<Tag extends ReasonTag> = {
  readonly [T in Tag]: { readonly _tag: T } & ParamsOf<(typeof reasons)[T]>
}[Tag]

interface Values {
  readonly text: string
  readonly number: number
  readonly texts: ReadonlyArray<string>
  readonly reason: Reason
  readonly reasons: ReadonlyArray<Reason>
}

type ValueOf<Kind> = Kind extends keyof Values ? Values[Kind] : never

/** Parameters of a reason as its object has them. */
type ParamsOf<P> = {
  readonly [N in keyof P as P[N] extends `${string}?` ? never : N]: ValueOf<P[N]>
} & {
  readonly [N in keyof P as P[N] extends `${string}?` ? N : never]?: P[N] extends `${infer Kind}?`
    ? ValueOf<Kind> | undefined
    : never
}

/** Returns a reason in the words of a person, a host, a model or a program. */
export const verbatimReason = (text: string): Reason => ({ _tag: "Text", text })

/** Returns the reason of an error. One of a library has a message only. */
export const errorReason = ({ message, why }: { readonly message: string; readonly why?: Reason }): Reason =>
  why ?? verbatimReason(message)

/** Joins reasons that hold together. */
export const joinReasons = (all: readonly [Reason, ...ReadonlyArray<Reason>]): Reason =>
  all.length === 1 ? all[0] : { _tag: "Several", reasons: all }

/** Shortens each text of a reason, which may be of a stranger. */
export const truncateTexts = (reason: Reason, limit: number): Reason =>
  JSON.parse(JSON.stringify(reason), (_, value: unknown) =>
    Predicate.isString(value) ? truncate(value, limit) : value
  )

/** Removes repetitions. */
export const distinctReasons = (all: ReadonlyArray<Reason>): ReadonlyArray<Reason> => [
  ...new Map(all.map((reason) => [JSON.stringify(reason), reason])).values()
]

const tables: Readonly<Record<string, Params>> = reasons

/**
 * Returns whether a value of unknown type is a reason of this release. `"_tag" in value` distinguishes reasons from other types: to narrow such
 * a union with this function, the compiler compares each reason with each other, for up to 40 s.
 */
export const isReason = (value: unknown): value is Reason => {
  if (!Predicate.hasProperty(value, "_tag") || !Predicate.isString(value._tag)) return false
  const params = Object.hasOwn(tables, value._tag) ? tables[value._tag] : undefined
  const values: Readonly<Record<string, unknown>> = { ...value }
  return params !== undefined && Object.entries(params).every(([name, kind]) => isParam(kind, values[name], isReason))
}

/** A record of another release stays readable: its reason is the tag. */
const unknownReason = (value: { readonly _tag?: unknown }): Reason => ({ _tag: "Unknown", tag: String(value._tag) })

/** Leaves out absent parameters. */
const asJson = (reason: Reason): Schema.JsonObject => JSON.parse(JSON.stringify(reason))

/** Returns a reason from JSON; undefined if the value is none. */
export const readReason = (value: unknown): Reason | undefined =>
  isReason(value) ? value : Predicate.hasProperty(value, "_tag") ? unknownReason(value) : undefined

/** JSON of a reason: its tag and parameters. */
export const Reason = Schema.JsonObject.pipe(
  Schema.decodeTo(
    Schema.declare(isReason),
    SchemaTransformation.transform<Reason, Schema.JsonObject>({
      decode: (value) => (isReason(value) ? value : unknownReason(value)),
      encode: (reason) => asJson(reason)
    })
  )
).annotate({ identifier: "Reason" })
