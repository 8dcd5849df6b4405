/** Publishes the record of a node on the bus while it runs: its roles, its version, its review slots, its number of actors, its memory, its delay and its last error. */
import { Clock, Effect, Layer, Option, Schema } from "effect"
import { Sharding } from "effect/cluster"
import packageJson from "../../../package.json" with { type: "json" }
import { NatsNodes } from "../../../nats/NatsNodes.ts"
import type { NodeRecord } from "../../../nats/NatsNodes.ts"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { LoggedError } from "../../domain/LoggedError.ts"
import type { NodeVersion } from "../../domain/NodeWarnings.ts"
import { NodeIdentity } from "../../domain/NodeIdentity.ts"
import type { Role } from "../../domain/Role.ts"
import { LastError } from "../../observability/LastError.ts"
import { measureAfter } from "./NodeMeasures.ts"
import type { NodeMeasures } from "./NodeMeasures.ts"
import { describeWork } from "./Nodes.ts"
import { readRefused } from "./RefusedConfigurations.ts"

const countMillis = 5000

/** `owner` distinguishes this process from another one of the same name. */
const detailsOf = Effect.fnUntraced(function* (roles: ReadonlySet<Role>) {
  const { owner } = yield* NodeIdentity
  const config = yield* ConfigStore
  return { owner, ...describeWork(config, [...roles]) }
})

const countOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const textsOf = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : []

const decodeError = Schema.decodeUnknownOption(LoggedError)

/** Returns what a node published about its work; undefined where it published nothing readable. */
export const readDetails = ({ more }: NodeRecord) => ({
  slots: countOf(more["slots"]),
  actors: countOf(more["actors"]),
  memoryBytes: countOf(more["memoryBytes"]),
  lagMillis: countOf(more["lagMillis"]),
  /** Beginning of the hash of its configuration. */
  configuration: textOf(more["configuration"]),
  needs: textsOf(more["needs"]),
  refusedTemplates: textsOf(more["refusedTemplates"]),
  refused: readRefused(more["refused"]),
  lastError: Option.getOrUndefined(decodeError(more["lastError"]))
})

export const toVersion = (node: NodeRecord): NodeVersion => {
  const { name, roles, version } = node
  const { configuration = "unknown", needs, refusedTemplates: templates } = readDetails(node)
  return { name, roles, needs, refusedTemplates: templates, version, configuration }
}

/** Lists this node until its scope closes. */
export const presence = (roles: ReadonlySet<Role>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { name, owner } = yield* NodeIdentity
      const details = yield* detailsOf(roles)
      const startedAt = yield* Clock.currentTimeMillis
      const more = { ...details, actors: 0 }
      return NatsNodes.layer({ name, roles: [...roles], version: packageJson.version, startedAt, more }, owner)
    })
  )

/** Publishes the details of this node whenever they have changed. */
const publishDetails = (roles: ReadonlySet<Role>, countActors: Effect.Effect<number>) =>
  Effect.gen(function* () {
    const nodes = yield* NatsNodes
    const config = yield* ConfigStore
    const identity = yield* NodeIdentity
    const errors = yield* LastError
    let published = ""
    const publish = Effect.fnUntraced(
      function* (measures: NodeMeasures | undefined) {
        const details = { ...(yield* detailsOf(roles)), actors: yield* countActors }
        const lastError = errors.get()
        const more = { ...details, ...measures, ...(lastError === undefined ? {} : { lastError }) }
        // Measures change all the time, and wait for the next record.
        if (JSON.stringify(details) === published) return yield* nodes.updateLater(more)
        yield* nodes.update(more)
        published = JSON.stringify(details)
      },
      (effect) => Effect.ignore(effect, { log: "Debug" })
    )
    const publishing = Effect.andThen(
      publish(undefined),
      Effect.forever(Effect.flatMap(measureAfter(countMillis), publish))
    ).pipe(Effect.provideService(ConfigStore, config), Effect.provideService(NodeIdentity, identity))
    yield* Effect.forkScoped(publishing)
  })

/** Publishes the details of a node with actors. */
export const actorCount = (roles: ReadonlySet<Role>) =>
  Layer.effectDiscard(
    Effect.flatMap(Sharding.Sharding, (sharding) => publishDetails(roles, sharding.activeEntityCount))
  )

/** Publishes the details of a node without actors. */
export const withoutActors = (roles: ReadonlySet<Role>) => Layer.effectDiscard(publishDetails(roles, Effect.succeed(0)))
