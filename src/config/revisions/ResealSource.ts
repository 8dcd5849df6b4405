/**
 * Seals the credentials of a revision, and of all drafts, with the current key. Each record is replaced by itself, so that a crash leaves some
 * sealed with the old key, which the next call finds; readers open both.
 */
import { Effect, Result } from "effect"
import type { SealingKeys } from "../credentials/Sealing.ts"
import type { DraftStore } from "./DraftStore.ts"
import { resealOperations } from "./OperationSecrets.ts"
import type { RevisionStore, SourceUnavailable } from "./RevisionStore.ts"
import { deserialise, resealDocument, serialise } from "./SealDocument.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface Resealed {
  /** Number of revisions and drafts that were replaced. */
  readonly resealed: number
  /** Records that could not be opened, with the reason. */
  readonly failed: ReadonlyArray<Reason>
}

/** Maximum number of attempts for a record that changes at the same time. */
const maxAttempts = 20

/** Returns why a record could not be sealed. */
export const notSealed = (record: string, why: Reason): Reason => ({ _tag: "RecordNotSealed", record, why })

/** Returns whether the revision was replaced, or why it could not be. */
export const resealRevision = Effect.fnUntraced(function* (
  store: RevisionStore["Service"],
  number: number,
  namespace: string,
  keys: SealingKeys,
  replacements: Map<string, string>
): Effect.fn.Return<boolean | ReadonlyArray<Reason>, SourceUnavailable> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const revision = yield* store.read(number)
    if (revision === undefined) return false
    let unknown = 0
    const document = deserialise(revision.document, () => unknown++)
    if (unknown > 0) return [{ _tag: "RecordOfNewerRelease" }]
    const next = resealDocument(document, namespace, keys, replacements)
    if (Result.isFailure(next))
      return next.failure.map(({ entity, path, reason }) => notSealed(`${entity} ${path}`, reason))
    const { hash, text } = serialise(next.success)
    if (hash === revision.hash) return false
    if (yield* store.reseal(number, revision.hash, { document: text, hash })) return true
  }
  return [{ _tag: "RecordKeepsChanging" }]
})

export const resealDrafts = Effect.fnUntraced(function* (
  drafts: DraftStore["Service"],
  namespace: string,
  keys: SealingKeys
): Effect.fn.Return<Resealed, SourceUnavailable> {
  const failed: Array<Reason> = []
  let resealed = 0
  for (const { id } of yield* drafts.list) {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const draft = yield* drafts.get(id)
      if (draft === undefined) break
      const next = resealOperations(draft.operations, namespace, keys)
      if (Result.isFailure(next)) {
        failed.push(...next.failure.map(({ reason }) => notSealed(`draft ${id}`, reason)))
        break
      }
      if (JSON.stringify(next.success) === JSON.stringify(draft.operations)) break
      const saved = yield* drafts.save({ ...draft, operations: next.success, version: draft.version + 1 })
      if (saved._tag !== "Saved") continue
      resealed++
      break
    }
  }
  return { resealed, failed }
})
