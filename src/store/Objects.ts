/**
 * Stores larger data than records: bytes under a key like `runs/<id>/calls/1.json`. Keys are segments of letters, digits, dots, underscores
 * and hyphens; any other key is a defect. Objects are written atomically.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export class Objects extends Context.Service<
  Objects,
  {
    /** Stores an object, text or UTF-8, replacing an existing one. */
    readonly put: (key: string, content: string | Uint8Array) => Effect.Effect<void, StoreError>
    readonly has: (key: string) => Effect.Effect<boolean, StoreError>
    /** Returns undefined if there is none. An object over `maxBytes` is an error. */
    readonly get: (key: string, maxBytes: number) => Effect.Effect<string | undefined, StoreError>
    /** Returns the names directly under a prefix, sorted; empty if there are none. */
    readonly list: (prefix: string) => Effect.Effect<ReadonlyArray<string>, StoreError>
    /** Removes everything under a prefix. */
    readonly remove: (prefix: string) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/Objects") {}

/** Returns whether every segment is safe as the name of a file. */
export const isObjectKey = (key: string): boolean =>
  key.length <= 512 && key.split("/").every((part) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(part))
