/**
 * Publishes, seals again or follows in the database given as argument, and kills itself (SIGKILL) after the call of a store with the given
 * number. Arguments: database, configuration file, action, number of the call.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { ActivationStore } from "../../../src/config/revisions/ActivationStore.ts"
import { AuditLog } from "../../../src/config/revisions/AuditLog.ts"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import { DraftStore } from "../../../src/config/revisions/DraftStore.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import * as Store from "../../../src/store/Store.ts"
import type { SourceStores } from "../../../src/store/source/SqlSource.ts"
import { layerSql } from "../../../src/store/source/SqlSource.ts"
import { editorOn } from "../../harness/ConfigSource.ts"
import { edits } from "./KilledEdits.ts"

const [, , path = "", file = "", action = "", killAt = "0"] = process.argv

let calls = 0
const afterCall = Effect.suspend(() => {
  if (++calls !== Number(killAt)) return Effect.void
  process.kill(process.pid, "SIGKILL")
  return Effect.never
})

const counted = <S extends object>(service: S): S =>
  new Proxy(service, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (Effect.isEffect(value)) return Effect.tap(value, () => afterCall)
      if (typeof value !== "function") return value
      return (...given: ReadonlyArray<unknown>) => {
        const result: unknown = Reflect.apply(value, target, given)
        return Effect.isEffect(result) ? Effect.tap(result, () => afterCall) : result
      }
    }
  })

const stores: Layer.Layer<SourceStores, unknown> = Layer.effectContext(
  Effect.gen(function* () {
    return Context.make(RevisionStore, counted(yield* RevisionStore)).pipe(
      Context.add(DraftStore, counted(yield* DraftStore)),
      Context.add(AuditLog, counted(yield* AuditLog)),
      Context.add(ActivationStore, counted(yield* ActivationStore))
    )
  })
).pipe(Layer.provide(layerSql("default")), Layer.provide(Store.layerSqlite({ path, migrate: "auto" })))

const act = Effect.gen(function* () {
  const editor = yield* ConfigEditor
  yield* Clock.currentTimeMillis
  if (action === "publish") return yield* editor.publish("alice", edits.first)
  if (action === "reseal") return yield* editor.reseal("alice")
  return yield* editor.status
})

const outcome = await Effect.runPromise(
  act.pipe(Effect.provide(editorOn(file, process.env, "node-1").pipe(Layer.provide(stores))), Effect.scoped)
)
process.stdout.write(`${JSON.stringify(outcome)}\n`)
