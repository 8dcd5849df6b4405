/** Records requests that change something: before they are handled, and with their outcome afterwards. Of previews, refusals are recorded. */
import { Clock, Effect, Exit, Layer, Metric } from "effect"
import { newId } from "../../domain/Ids.ts"
import { makeRecentEvents } from "../../domain/RecentEvents.ts"
import { truncate } from "../../domain/Text.ts"
import { adminActions } from "../../observability/Metrics.ts"
import { AdminActions, unknownOutcome } from "../../store/AdminActions.ts"
import { Audited, CurrentUser } from "../api/Rules.ts"
import { orUnavailable } from "./Available.ts"
import { Caller } from "../sessions/Caller.ts"

/** Endpoints that compute something from a body and change nothing: they are recorded only if they are refused. */
const reads: ReadonlySet<string> = new Set([
  "config.validate",
  "config.previewRoute",
  "config.previewRestore",
  "config.import",
  "drafts.preview",
  "people.preview"
])

/** A draft is saved while it is edited: within ten minutes, equal outcomes of one user have one record, made afterwards. */
const repeated: ReadonlySet<string> = new Set(["drafts.save"])
const repeatedMillis = 10 * 60 * 1000

const maxText = 512

/** Fields of bodies that name the target. No other field is recorded, because it may hold a credential. */
const named = ["workspace", "node", "action", "name"] as const

const parse = (body: Uint8Array): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"))
    return typeof value === "object" && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** Removes what a store refuses. */
const clean = (text: string): string => truncate(text.replaceAll("\u0000", "").toWellFormed(), maxText)

/** Maximum size of a body that is read for its target and reason; larger ones hold operations. */
const maxParsedBytes = 64 * 1024

const describeRequest = (path: string, body: Uint8Array) => {
  const fields = body.length > maxParsedBytes ? {} : parse(body)
  const text = (name: string) => {
    const value = fields[name]
    return typeof value === "string" ? value : undefined
  }
  const parts = named.flatMap((name) => {
    const value = text(name)
    return value === undefined ? [] : [`${name} ${value}`]
  })
  const reason = text("reason")
  return { target: clean([path, ...parts].join(" ")), reason: reason === undefined ? undefined : clean(reason) }
}

/** Stores a record of the request of a user; returns its id. */
export const startAction = Effect.fnUntraced(function* (actor: string, action: string) {
  const { request } = yield* Caller
  const id = newId()
  yield* (yield* AdminActions).start({
    id,
    at: yield* Clock.currentTimeMillis,
    actor: clean(actor),
    address: request.address,
    action,
    ...describeRequest(request.path, request.body),
    outcome: unknownOutcome
  })
  return id
}, orUnavailable)

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "invalid_payload"

export const finishAction = (id: string, outcome: string) =>
  AdminActions.use((actions) => actions.finish(id, outcome)).pipe(
    Effect.catch((error) =>
      Effect.logWarning("outcome of an administrator's action not recorded", { action_id: id, error: error.message })
    )
  )

/** Removes a record. */
export const discardAction = (id: string) =>
  AdminActions.use((actions) => actions.discard(id)).pipe(
    Effect.catch((error) =>
      Effect.logWarning("record of an administrator's action not removed", { action_id: id, error: error.message })
    )
  )

const outcomeOf = <A, E>(exit: Exit.Exit<A, E>): string => {
  if (Exit.isSuccess(exit)) return "done"
  const [reason] = exit.cause.reasons
  return reason?._tag === "Fail" ? codeOf(reason.error) : "failed"
}

export const layer = Layer.effect(
  Audited,
  Effect.gen(function* () {
    const actions = yield* AdminActions
    const recent = makeRecentEvents(repeatedMillis)
    return Audited.of((handled, { endpoint, group }) =>
      Effect.gen(function* () {
        const { request } = yield* Caller
        const { username } = yield* CurrentUser
        const action = `${group.identifier}.${endpoint.identifier}`
        if (request.method === "GET" || request.method === "HEAD") return yield* handled
        const services = Effect.provideService(AdminActions, actions)
        const counted = Effect.onExit(handled, (exit) =>
          Metric.update(Metric.withAttributes(adminActions, { action, outcome: outcomeOf(exit) }), 1)
        )
        if (reads.has(action)) {
          return yield* Effect.tapError(handled, (error) =>
            startAction(username, action).pipe(
              Effect.flatMap((id) => finishAction(id, codeOf(error))),
              services
            )
          )
        }
        if (repeated.has(action)) {
          return yield* Effect.onExit(
            counted,
            Effect.fnUntraced(function* (exit) {
              const outcome = outcomeOf(exit)
              const event = JSON.stringify([username, request.path, outcome])
              if (!recent.isNew(event, yield* Clock.currentTimeMillis)) return
              yield* finishAction(yield* startAction(username, action), outcome)
            }, services)
          )
        }
        const id = yield* Effect.provideService(startAction(username, action), AdminActions, actions)
        return yield* Effect.onExit(counted, (exit) =>
          Effect.provideService(finishAction(id, outcomeOf(exit)), AdminActions, actions)
        )
      })
    )
  })
)
