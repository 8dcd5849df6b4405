/**
 * The content of a draft: what is stored of an edit, and the document that it makes. Credentials are sealed when they are stored and masked in every
 * result, so a mask in the next version means the credential that the draft holds. It is resolved here and not by the caller, who never
 * gets the credential, and only while the credential would be sent to the same destination.
 */
import { Effect, Result } from "effect"
import { isDeepStrictEqual } from "node:util"
import { sealingKeys } from "../Sealing.ts"
import type { DraftDocument, DraftInput } from "./ConfigEditor.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import type { ConfigDraft } from "./DraftStore.ts"
import type { EditorContext } from "./EditorContext.ts"
import { requireLayered } from "./EditorContext.ts"
import type { Ground } from "./Ground.ts"
import { loadRevision } from "./LoadRevisions.ts"
import { maxOperations } from "./Operations.ts"
import type { ConfigOperation } from "./Operations.ts"
import { invalidOperations, sealedIn, sealOperations } from "./OperationSecrets.ts"
import { applyUnmoved, listRedirected } from "./Publish.ts"
import type { PublishProblem } from "./Publish.ts"
import { problem } from "./PublishEdit.ts"
import type { SourceUnavailable } from "./RevisionStore.ts"
import { exportDocument, importDocument, toMasked } from "./YamlExchange.ts"

/** Upper bound of the operations of a draft, in bytes. */
const maxDraftBytes = 1024 * 1024
const maxTitle = 200
const maxReason = 2000

type Checked<A> = Result.Result<A, ReadonlyArray<PublishProblem>>
type Content = Pick<ConfigDraft, "base" | "format" | "operations" | "reason" | "title">
type Edits = Pick<ConfigDraft, "base" | "operations">

const factProblem = ({ reason, title }: DraftInput): PublishProblem | undefined => {
  if (title.trim() === "" || title.length > maxTitle)
    return problem("invalid_request", `title has ${title.length} characters; 1 to ${maxTitle} are allowed`)
  return reason.length > maxReason
    ? problem("invalid_request", `reason has ${reason.length} characters; at most ${maxReason} are allowed`)
    : undefined
}

const sizeProblem = (operations: ReadonlyArray<ConfigOperation>): PublishProblem | undefined => {
  if (operations.length > maxOperations)
    return problem(
      "document_too_large",
      `the edit has ${operations.length} operations; at most ${maxOperations} are stored`
    )
  const size = Buffer.byteLength(JSON.stringify(operations))
  return size > maxDraftBytes
    ? problem("document_too_large", `the operations have ${size} bytes; at most ${maxDraftBytes} are stored`)
    : undefined
}

const readBase = Effect.fnUntraced(function* (
  context: EditorContext,
  base: number
): Effect.fn.Return<Checked<DatabaseDocument>, SourceUnavailable> {
  const revision = yield* loadRevision(context.revisions, base)
  if (revision !== undefined) return Result.succeed(revision.document)
  const message = `revision ${base}, for which the edit was made, does not exist any more; begin with the newest revision`
  return Result.fail([problem("revision_not_found", message)])
})

const applyDraft = Effect.fnUntraced(function* (context: EditorContext, { base, operations }: Edits, ground: Ground) {
  return Result.flatMap(yield* readBase(context, base), (document) => applyUnmoved(document, operations, ground))
})

const toOperations = Effect.fnUntraced(function* (
  context: EditorContext,
  input: DraftInput,
  previous: ConfigDraft | undefined,
  ground: Ground
): Effect.fn.Return<Checked<ReadonlyArray<ConfigOperation>>, SourceUnavailable> {
  if ("operations" in input) return Result.succeed(input.operations)
  const base = yield* readBase(context, input.base)
  const held = previous === undefined ? undefined : yield* applyDraft(context, previous, ground)
  return Result.flatMap(base, (document) =>
    importDocument(input.yaml, document, held === undefined ? undefined : Result.getOrUndefined(held))
  )
})

/** Returns the credentials that are kept from the version before although they would be sent to another destination. */
const redirectedProblems = Effect.fnUntraced(function* (
  context: EditorContext,
  previous: ConfigDraft,
  next: Edits,
  ground: Ground
): Effect.fn.Return<ReadonlyArray<PublishProblem>, SourceUnavailable> {
  const held = new Set<unknown>(sealedIn(previous.operations).values())
  const kept = new Set<unknown>([...sealedIn(next.operations).values()].filter((text) => held.has(text)))
  const isSame = previous.base === next.base && isDeepStrictEqual(previous.operations, next.operations)
  if (kept.size === 0 || isSame) return []
  const before = yield* applyDraft(context, previous, ground)
  const after = yield* applyDraft(context, next, ground)
  if (Result.isFailure(after)) return after.failure
  if (Result.isSuccess(before)) return listRedirected(before.success, after.success, (text) => kept.has(text), ground)
  return [
    problem("secret_destination_changed", "the destination of a credential in the draft is unknown; enter it again")
  ]
})

/** Returns what is stored: credentials sealed, masks resolved against `previous`. */
export const toStored = Effect.fnUntraced(function* (
  context: EditorContext,
  input: DraftInput,
  previous: ConfigDraft | undefined
): Effect.fn.Return<Checked<Content>, SourceUnavailable> {
  const { ground } = yield* requireLayered(context)
  const invalid = factProblem(input)
  if (invalid !== undefined) return Result.fail([invalid])
  const given = yield* toOperations(context, input, previous, ground)
  if (Result.isFailure(given)) return Result.fail(given.failure)
  const large = sizeProblem(given.success)
  if (large !== undefined) return Result.fail([large])
  const unsafe = invalidOperations(given.success)
  if (unsafe.length > 0) return Result.fail(unsafe)
  const former = previous?.operations ?? []
  const sealed = sealOperations(given.success, former, ground.namespace, sealingKeys(ground.env))
  if (Result.isFailure(sealed)) return Result.fail(sealed.failure)
  const { base, reason, title } = input
  const content = { base, reason, title, operations: sealed.success }
  const redirected = previous === undefined ? [] : yield* redirectedProblems(context, previous, content, ground)
  if (redirected.length > 0) return Result.fail(redirected)
  return Result.succeed({ ...content, format: "yaml" in input ? "yaml" : "operations" })
})

export const draftDocument = Effect.fnUntraced(function* (
  context: EditorContext,
  id: string
): Effect.fn.Return<DraftDocument, SourceUnavailable> {
  const { ground } = yield* requireLayered(context)
  const draft = yield* context.drafts.get(id)
  if (draft === undefined) return { _tag: "NotFound" }
  const document = yield* applyDraft(context, draft, ground)
  if (Result.isFailure(document)) return { _tag: "Refused", problems: document.failure }
  return {
    _tag: "Document",
    base: draft.base,
    version: draft.version,
    document: toMasked(document.success),
    yaml: exportDocument(document.success)
  }
})
