/**
 * Spools analyses that are paid for and could not be stored: as files on this node, and in the shared object store if there is one, until
 * the next attempt at the same review adopts them. Limited in bytes and age; the oldest are removed first.
 */
import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Analysis } from "../domain/Analysis.ts"
import type { TargetKey } from "../domain/Keys.ts"
import type { Objects } from "./Objects.ts"
import type { StoreError } from "../database/StoreError.ts"

/** Properties that a review must share with another one to adopt its analysis. */
export interface SpoolKey {
  readonly targetKey: TargetKey
  readonly head: string
  readonly base: string | undefined
  readonly configHash: string
  /** Set for a review that a person requested: only its own attempts adopt the analysis. */
  readonly entryId: string | undefined
}

type ObjectStore = Objects["Service"]

export class AnalysisSpool extends Context.Service<
  AnalysisSpool,
  {
    readonly keep: (key: SpoolKey, analysis: Analysis, now: number) => Effect.Effect<void, StoreError>
    /** Returns undefined if there is none, or it is too old or unreadable. */
    readonly find: (key: SpoolKey, now: number) => Effect.Effect<Analysis | undefined, StoreError>
    readonly remove: (key: SpoolKey) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/AnalysisSpool") {
  /** Stores nothing: for a program that shows its result and ends. */
  static readonly layerNone: Layer.Layer<AnalysisSpool> = Layer.succeed(
    AnalysisSpool,
    AnalysisSpool.of({ keep: () => Effect.void, find: () => Effect.undefined, remove: () => Effect.void })
  )
}

const prefix = "spool"
const maxBytes = 64 * 1024 * 1024
const maxAgeMillis = 24 * 3_600_000
const Spooled = Schema.fromJsonString(Schema.Struct({ version: Schema.Literal(1), analysis: Analysis }))
const encode = Schema.encodeSync(Spooled)
const decode = Schema.decodeUnknownOption(Spooled)

/** Time and size are part of the name, so that the limits are enforced without opening a file. */
interface SpooledFile {
  readonly name: string
  readonly at: number
  readonly bytes: number
  readonly digest: string
}

const fileName = (at: number, bytes: number, digest: string): string =>
  `${String(at).padStart(15, "0")}-${bytes}-${digest}.json`

const parseName = (name: string): ReadonlyArray<SpooledFile> => {
  const [, at, bytes, digest] = /^(\d{15})-(\d{1,9})-([0-9a-f]{64})\.json$/.exec(name) ?? []
  return digest === undefined ? [] : [{ name, at: Number(at), bytes: Number(bytes), digest }]
}

const digestOf = ({ targetKey, head, base, configHash, entryId }: SpoolKey): string =>
  createHash("sha256")
    .update(JSON.stringify([targetKey, head, base ?? null, configHash, entryId ?? null]))
    .digest("hex")

/** Returns the files to remove so that `room` more bytes fit, oldest first. */
export const overflow = (files: ReadonlyArray<SpooledFile>, room: number, now: number): ReadonlyArray<SpooledFile> => {
  let bytes = files.reduce((sum, file) => sum + file.bytes, room)
  return files
    .toSorted((a, b) => a.at - b.at)
    .filter((file) => {
      const isRemoved = file.at < now - maxAgeMillis || bytes > maxBytes
      if (isRemoved) bytes -= file.bytes
      return isRemoved
    })
}

const filesIn = (store: ObjectStore) => Effect.map(store.list(prefix), (names) => names.flatMap(parseName))

const removeFrom = Effect.fnUntraced(function* (store: ObjectStore, files: ReadonlyArray<SpooledFile>) {
  for (const { name } of files) yield* store.remove(`${prefix}/${name}`)
})

const keepIn = Effect.fnUntraced(function* (store: ObjectStore, digest: string, text: string, now: number) {
  const bytes = Buffer.byteLength(text)
  const files = yield* filesIn(store)
  if (files.some((file) => file.digest === digest)) return
  yield* removeFrom(store, overflow(files, bytes, now))
  yield* store.put(`${prefix}/${fileName(now, bytes, digest)}`, text)
})

const findIn = Effect.fnUntraced(function* (store: ObjectStore, digest: string, now: number) {
  const file = (yield* filesIn(store)).findLast((one) => one.digest === digest)
  if (file === undefined || file.at < now - maxAgeMillis) return undefined
  const text = yield* store.get(`${prefix}/${file.name}`, maxBytes)
  return Option.getOrUndefined(decode(text))?.analysis
})

/** Tries `local` first. An analysis in one of the stores counts as spooled. */
export const layerOver = (local: ObjectStore, shared: ObjectStore | undefined): Layer.Layer<AnalysisSpool> => {
  const stores = shared === undefined ? [local] : [local, shared]
  return Layer.succeed(
    AnalysisSpool,
    AnalysisSpool.of({
      keep: Effect.fnUntraced(function* (key, analysis, now) {
        const text = encode({ version: 1, analysis })
        if (Buffer.byteLength(text) > maxBytes) return
        const results = yield* Effect.forEach(stores, (store) => Effect.result(keepIn(store, digestOf(key), text, now)))
        const failures = results.flatMap((result) => (result._tag === "Failure" ? [result.failure] : []))
        if (failures[0] !== undefined && failures.length === stores.length) return yield* failures[0]
      }),
      find: Effect.fnUntraced(function* (key, now) {
        let failure: StoreError | undefined
        for (const store of stores) {
          const result = yield* Effect.result(findIn(store, digestOf(key), now))
          if (result._tag === "Failure") failure ??= result.failure
          else if (result.success !== undefined) return result.success
        }
        return failure === undefined ? undefined : yield* failure
      }),
      remove: Effect.fnUntraced(function* (key) {
        const digest = digestOf(key)
        for (const store of stores) {
          const files = yield* filesIn(store)
          yield* removeFrom(
            store,
            files.filter((file) => file.digest === digest)
          )
        }
      })
    })
  )
}
