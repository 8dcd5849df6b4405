/** Stores objects in a bucket: objects are written atomically, and all nodes see the same ones. */
import { Effect, Layer } from "effect"
import { isObjectKey, Objects } from "../Objects.ts"
import { elements, readField, readFields, open } from "./S3Bucket.ts"
import type { BucketOptions } from "./S3Bucket.ts"
import { StoreError } from "../../database/StoreError.ts"

/** A page of a list has at most a thousand keys of at most a kilobyte. */
const maxPageBytes = 4 * 1024 * 1024
/** Maximum number of pages of one list. */
const maxPages = 1000
const deletedAtOnce = 8

export const layerS3 = (options: BucketOptions): Layer.Layer<Objects, StoreError> =>
  Layer.effect(
    Objects,
    Effect.gen(function* () {
      const bucket = yield* open(options)
      const keyed = <A>(key: string, use: Effect.Effect<A, StoreError>) =>
        isObjectKey(key) ? use : Effect.die(new Error(`not an object key: ${key}`))

      /** Returns the keys below `prefix/`, with `flat` only those directly below it. */
      const keysBelow = Effect.fnUntraced(function* (operation: string, prefix: string, flat: boolean) {
        const found: Array<string> = []
        let token: string | undefined
        for (let page = 0; page < maxPages; page++) {
          const query = {
            "list-type": "2",
            prefix: `${prefix}/`,
            ...(flat ? { delimiter: "/" } : {}),
            ...(token === undefined ? {} : { "continuation-token": token })
          }
          const response = yield* bucket(operation, { method: "GET", query, maxBytes: maxPageBytes })
          const xml = response._tag === "Found" ? response.text : ""
          found.push(...elements(xml, "Contents").flatMap((one) => readFields(one, "Key")))
          found.push(...elements(xml, "CommonPrefixes").flatMap((one) => readFields(one, "Prefix")))
          token = readField(xml, "NextContinuationToken")
          if (token === undefined) return found
        }
        return yield* new StoreError({
          reason: "unavailable",
          operation,
          why: { _tag: "S3TooManyPages", count: maxPages, prefix }
        })
      })

      return Objects.of({
        put: (key, content) => keyed(key, Effect.asVoid(bucket("objects.put", { method: "PUT", key, body: content }))),
        has: (key) =>
          keyed(
            key,
            Effect.map(bucket("objects.has", { method: "HEAD", key }), ({ _tag }) => _tag === "Found")
          ),
        get: (key, maxBytes) =>
          keyed(
            key,
            Effect.map(bucket("objects.get", { method: "GET", key, maxBytes }), (response) =>
              response._tag === "Found" ? response.text : undefined
            )
          ),
        list: (prefix) =>
          keyed(
            prefix,
            Effect.map(keysBelow("objects.list", prefix, true), (keys) =>
              [...new Set(keys.map((key) => key.slice(prefix.length + 1).replace(/\/$/, "")))]
                .filter((name) => name !== "" && !name.startsWith("."))
                .toSorted()
            )
          ),
        remove: (prefix) =>
          keyed(
            prefix,
            Effect.flatMap(keysBelow("objects.remove", prefix, false), (keys) =>
              Effect.forEach([prefix, ...keys], (key) => bucket("objects.remove", { method: "DELETE", key }), {
                concurrency: deletedAtOnce,
                discard: true
              })
            )
          )
      })
    })
  )
