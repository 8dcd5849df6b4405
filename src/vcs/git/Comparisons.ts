/**
 * `Comparison` over git. If all paths are selected, the trees themselves are compared by a process that all checkouts of a mirror
 * share; else trees with only the selected paths.
 */
import { Effect, RcMap, Stream } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ChangedPath, Comparison } from "../Checkout.ts"
import type { GitObject } from "./BlobReader.ts"
import { writeChosenTrees } from "./ChosenTrees.ts"
import { findTree } from "./CommitObject.ts"
import type { ReadObject } from "./CommitObject.ts"
import type { DiffReader } from "./DiffReader.ts"
import { decodeDiff } from "./DecodeDiff.ts"
import { diffStream } from "./DiffStream.ts"
import type { Mirror } from "./Mirror.ts"
import type { SizedObject, SizeReader } from "./SizeReader.ts"
import { walkTrees } from "./TreeWalk.ts"
import type { TreePath } from "./TreeWalk.ts"

type SizeReaders = RcMap.RcMap<string, SizeReader>

interface ComparisonsOptions {
  readonly readObject: (
    mirror: Mirror,
    object: string,
    maxBytes: number
  ) => Effect.Effect<GitObject | undefined, CheckoutError>
  readonly sizeReaders: SizeReaders
  readonly diffReaders: RcMap.RcMap<string, DiffReader>
  /** Folder for the objects of one comparison. */
  readonly scratch: string
}

/** Number of object names per request. */
const sizesAtOnce = 1000
/** The objects of a submodule are not in the mirror. */
const submodule = "160000"
/** Git recurses into the folders of a path, so the depth is limited. */
const maxDepth = 64

export const objectsIn = (
  readers: SizeReaders,
  { directory }: Mirror,
  names: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<SizedObject | undefined>, CheckoutError> =>
  Effect.scoped(Effect.flatMap(RcMap.get(readers, directory), (reader) => reader.objects(names))).pipe(
    Effect.tapError(() => RcMap.invalidate(readers, directory))
  )

export const makeComparisons = ({ diffReaders, readObject, scratch, sizeReaders }: ComparisonsOptions) => {
  /** Uses the shared process, or a separate one while the shared one is busy with another diff, whose reader may be slow. */
  const whole = (mirror: Mirror, before: string, after: string) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const shared = yield* RcMap.get(diffReaders, mirror.directory)
        yield* Effect.addFinalizer(() =>
          shared.isOver() ? RcMap.invalidate(diffReaders, mirror.directory) : Effect.void
        )
        return (yield* shared.diff(before, after)) ?? diffStream(mirror, before, after)
      })
    )

  const chosen = (mirror: Mirror, commit: string, paths: ReadonlyArray<TreePath>, exactRenames: boolean) =>
    Stream.unwrap(
      Effect.map(writeChosenTrees(scratch, commit, paths), ({ after, before, objects }) =>
        diffStream(mirror, before, after, { exactRenames, objects })
      )
    )

  return (mirror: Mirror, from: string, head: string): Comparison => {
    const read: ReadObject = (id, maxBytes) => readObject(mirror, id, maxBytes)
    const trees = Effect.gen(function* () {
      const [before, after] = [yield* findTree(read, from), yield* findTree(read, head)]
      return before === undefined || after === undefined
        ? yield* new CheckoutError({
            reason: "missing",
            why: { _tag: "CommitUnreadable", commit: before === undefined ? from : head }
          })
        : { before, after }
    })
    let listed: ReadonlyMap<ChangedPath, TreePath> = new Map()
    return {
      changes: Effect.fnUntraced(function* (maxPaths) {
        const { before, after } = yield* trees
        const found = yield* walkTrees(read, before, after, maxPaths)
        listed = new Map(found.map((one) => [one, one]))
        return found
      }),
      sizes: Effect.fnUntraced(function* (paths) {
        const sizes: Array<number> = []
        for (let at = 0; at < paths.length; at += sizesAtOnce) {
          const some = paths.slice(at, at + sizesAtOnce).flatMap((path) => listed.get(path) ?? [])
          const names = some.flatMap(({ newId, newMode, oldId, oldMode }) => [
            oldMode === submodule ? "" : (oldId ?? ""),
            newMode === submodule ? "" : (newId ?? "")
          ])
          const found = (yield* objectsIn(
            sizeReaders,
            mirror,
            names.filter((name) => name !== "")
          )).values()
          const ordered = names.map((name) => (name === "" ? 0 : (found.next().value?.size ?? 0)))
          for (let one = 0; one < ordered.length; one += 2) {
            sizes.push(Math.max(ordered[one] ?? 0, ordered[one + 1] ?? 0))
          }
        }
        return sizes
      }),
      diff: (paths, exactRenames) =>
        Stream.unwrap(
          Effect.gen(function* () {
            const own = paths.flatMap((path) => listed.get(path) ?? [])
            if (own.length === 0) return Stream.empty
            const { before, after } = yield* trees
            const isWhole = own.length === listed.size && own.every(({ bytes }) => bytes.split("/").length <= maxDepth)
            return isWhole && !exactRenames ? whole(mirror, before, after) : chosen(mirror, head, own, exactRenames)
          })
        ).pipe(decodeDiff((id, maxBytes) => Effect.map(read(id, maxBytes), (object) => object?.content)))
    }
  }
}
