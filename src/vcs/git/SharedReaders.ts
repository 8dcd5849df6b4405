/** Git processes that all checkouts of a mirror share: for objects, sizes and diffs. They end 10 seconds after their last use. */
import { Effect, RcMap } from "effect"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { openBlobReader } from "./BlobReader.ts"
import { sizesIn } from "./Comparisons.ts"
import { openDiffReader } from "./DiffReader.ts"
import type { Mirror } from "./Mirror.ts"
import { decodeBlob } from "./Objects.ts"
import { openSizeReader } from "./SizeReader.ts"

export const makeSharedReaders = Effect.fnUntraced(function* (limits: () => ProcessLimits) {
  const idleTimeToLive = "10 seconds"
  const objects = yield* RcMap.make({ lookup: (at: string) => openBlobReader(at, limits()), idleTimeToLive })
  const sizes = yield* RcMap.make({ lookup: (at: string) => openSizeReader(at, limits()), idleTimeToLive })
  const diffs = yield* RcMap.make({ lookup: (at: string) => openDiffReader(at, limits()), idleTimeToLive })

  const readObject = (mirror: Mirror, object: string, maxBytes: number) =>
    Effect.scoped(Effect.flatMap(RcMap.get(objects, mirror.directory), (reader) => reader.read(object, maxBytes))).pipe(
      Effect.tapError(() => RcMap.invalidate(objects, mirror.directory))
    )

  /** Reads the size first, so that large files are not loaded. */
  const readText = Effect.fnUntraced(function* (mirror: Mirror, object: string, maxBytes: number) {
    const [size] = yield* sizesIn(sizes, mirror, [object])
    return size === undefined || size > maxBytes ? undefined : decodeBlob(yield* readObject(mirror, object, maxBytes))
  })

  /** Ends the processes of a mirror. */
  const invalidate = (directory: string) =>
    Effect.all([
      RcMap.invalidate(objects, directory),
      RcMap.invalidate(sizes, directory),
      RcMap.invalidate(diffs, directory)
    ])

  return { readObject, readText, invalidate, sizes, diffs }
})

export type SharedReaders = Effect.Success<ReturnType<typeof makeSharedReaders>>
