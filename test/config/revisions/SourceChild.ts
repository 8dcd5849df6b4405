/**
 * Publishes, seals again or follows in the database given as argument, and kills itself (SIGKILL) after the call of a store with the given
 * number, or right before its first statement that contains a text. Arguments: kind and address of the database, configuration file, action,
 * number, text.
 */
import { flushCompileCache } from "node:module"
import { StatementSync } from "node:sqlite"
import { Context, Effect, Layer } from "effect"
import { Client } from "pg"
import { ActivationStore } from "../../../src/config/revisions/ActivationStore.ts"
import { AuditLog } from "../../../src/config/revisions/AuditLog.ts"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import { DraftStore } from "../../../src/config/revisions/DraftStore.ts"
import { ResealStore } from "../../../src/config/revisions/ResealStore.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import type { SourceStores } from "../../../src/store/configuration/SqlSource.ts"
import { editorOn, resealAll } from "../../harness/ConfigSource.ts"
import { openStores } from "../../store/source/Backends.ts"
import { edits } from "./KilledEdits.ts"

const [, , kind = "", address = "", file = "", action = "", killAt = "0", statement = ""] = process.argv

const die = (): void => void process.kill(process.pid, "SIGKILL")

let calls = 0
/** A node follows from its start on. */
let isActing = action === "follow"
const afterCall = Effect.suspend(() => {
  if (++calls !== Number(killAt)) return Effect.void
  die()
  return Effect.never
})

const observed = <S extends object>(service: S): S =>
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

if (statement !== "") {
  const dieBefore = (text: string): void => {
    if (isActing && text.includes(statement)) die()
  }
  for (const method of ["all", "run"] as const) {
    const original = StatementSync.prototype[method]
    Object.defineProperty(StatementSync.prototype, method, {
      value(this: StatementSync, ...parameters: ReadonlyArray<never>) {
        dieBefore(this.sourceSQL)
        return Reflect.apply(original, this, parameters)
      }
    })
  }
  const query: unknown = Client.prototype.query
  Object.defineProperty(Client.prototype, "query", {
    value(this: Client, given: unknown, ...more: ReadonlyArray<unknown>) {
      dieBefore(typeof given === "string" ? given : String(Object(given).text))
      if (typeof query !== "function") throw new Error("pg has no query")
      return Reflect.apply(query, this, [given, ...more])
    }
  })
}

const stores: Layer.Layer<SourceStores, unknown> = Layer.effectContext(
  Effect.gen(function* () {
    const reseals = yield* ResealStore
    return Context.make(RevisionStore, observed(yield* RevisionStore)).pipe(
      Context.add(DraftStore, observed(yield* DraftStore)),
      Context.add(AuditLog, observed(yield* AuditLog)),
      Context.add(ActivationStore, observed(yield* ActivationStore)),
      // The job is read again and again until it ends, so reads of it are not counted.
      Context.add(ResealStore, { ...reseals, save: observed(reseals).save })
    )
  })
).pipe(Layer.provide(openStores(kind === "postgres" || kind === "redis" ? kind : "sqlite", address, "default")))

const act = Effect.gen(function* () {
  const editor = yield* ConfigEditor
  isActing = true
  if (action === "publish") return yield* editor.publish("alice", edits.first)
  if (action === "reseal") return yield* resealAll(editor, "alice")
  return yield* editor.status
})

flushCompileCache()
const outcome = await Effect.runPromise(
  act.pipe(Effect.provide(editorOn(file, process.env, "node-1").pipe(Layer.provide(stores))), Effect.scoped)
)
process.stdout.write(`${JSON.stringify(outcome)}\n`)
process.exit(0)
