/** Logs which roles no node has, when that changes. Nodes start one after another: a role counts at the second look in a row. */
import { Effect, Layer, Schedule } from "effect"
import { findUnservedRoles } from "../../domain/NodeWarnings.ts"
import type { Role } from "../../domain/Role.ts"
import { Nodes } from "./Nodes.ts"

const interval = "10 seconds"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { list } = yield* Nodes
    let previous: ReadonlyArray<Role> = []
    let logged: ReadonlyArray<Role> = []
    const scan = Effect.gen(function* () {
      const unserved = findUnservedRoles(yield* list)
      const lasting = unserved.filter((role) => previous.includes(role))
      for (const role of lasting.filter((one) => !logged.includes(one)))
        yield* Effect.logWarning("no node has this role", { role, reason: { _tag: "RoleUnserved", role } })
      for (const role of logged.filter((one) => !unserved.includes(one)))
        yield* Effect.logInfo("a node has this role again", { role })
      previous = unserved
      logged = logged.filter((role) => unserved.includes(role)).concat(lasting.filter((role) => !logged.includes(role)))
    })
    yield* scan.pipe(Effect.ignore({ log: "Debug" }), Effect.repeat(Schedule.spaced(interval)), Effect.forkScoped)
  })
)
