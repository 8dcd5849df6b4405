/**
 * The content of a draft: what is stored of an edit, and the document that it makes. Credentials are sealed when they are stored and masked in every
 * result, so a mask in the next version means the credential that the draft holds. It is resolved here and not by the caller, who never
 * gets the credential, and only while the credential would be sent to the same destination.
 */
import { Effect, Result } from "effect"
import { isDeepStrictEqual } from "node:util"
import { sealingKeys } from "../credentials/Sealing.ts"
import { mask } from "../Show.ts"
import type { DraftDocument, DraftInput } from "./ConfigEditor.ts"
import { makeOrigins, onlySecrets, sealOperations } from "./CredentialOrigins.ts"
import type { CredentialOrigins } from "./CredentialOrigins.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import type { ConfigDraft } from "./DraftStore.ts"
import type { EditorContext } from "./EditorContext.ts"
import { requireLayered } from "./EditorContext.ts"
import type { FileBaseline } from "./FileBaseline.ts"
import { loadRevision } from "./LoadRevisions.ts"
import { maxOperations } from "./Operations.ts"
import type { ConfigOperation } from "./Operations.ts"
import { invalidOperations, openOperations, replaceAll, secretKey, secretsIn } from "./OperationSecrets.ts"
import type { ReplacedOperations } from "./OperationSecrets.ts"
import { applyEdits, listRedirected } from "./Publish.ts"
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
    return problem("invalid_request", { _tag: "TitleLength", count: title.length, limit: maxTitle })
  return reason.length > maxReason
    ? problem("invalid_request", { _tag: "ReasonLength", count: reason.length, limit: maxReason })
    : undefined
}

const sizeProblem = (operations: ReadonlyArray<ConfigOperation>): PublishProblem | undefined => {
  if (operations.length > maxOperations)
    return problem("document_too_large", { _tag: "TooManyOperations", count: operations.length, limit: maxOperations })
  const size = Buffer.byteLength(JSON.stringify(operations))
  return size > maxDraftBytes
    ? problem("document_too_large", { _tag: "OperationsTooLarge", bytes: size, limit: maxDraftBytes })
    : undefined
}

const readBase = Effect.fnUntraced(function* (
  context: EditorContext,
  base: number
): Effect.fn.Return<Checked<DatabaseDocument>, SourceUnavailable> {
  const revision = yield* loadRevision(context.revisions, base)
  if (revision !== undefined) return Result.succeed(revision.document)
  return Result.fail([problem("revision_not_found", { _tag: "BaseMissing", number: base })])
})

const applyDraft = Effect.fnUntraced(function* (
  context: EditorContext,
  { base, operations }: Edits,
  baseline: FileBaseline
) {
  return Result.flatMap(yield* readBase(context, base), (document) => applyEdits(document, operations, baseline))
})

/** The version before, with markers in place of its credentials. */
interface Held {
  readonly edits: Edits
  readonly document: Checked<DatabaseDocument>
}

const holdPrevious = Effect.fnUntraced(function* (
  context: EditorContext,
  { base, operations }: ConfigDraft,
  origins: CredentialOrigins,
  baseline: FileBaseline
): Effect.fn.Return<Held, SourceUnavailable> {
  const edits = { base, operations: origins.markOperations(operations, false) }
  return { edits, document: yield* applyDraft(context, edits, baseline) }
})

const isHeld =
  ({ find }: CredentialOrigins) =>
  (secret: unknown): boolean =>
    find(secret)?.isEntered === false

const toOperations = Effect.fnUntraced(function* (
  context: EditorContext,
  input: DraftInput,
  held: Held | undefined,
  origins: CredentialOrigins
): Effect.fn.Return<Checked<ReadonlyArray<ConfigOperation>>, SourceUnavailable> {
  if ("operations" in input) return Result.succeed(input.operations)
  const ofDraft = held === undefined ? undefined : Result.getOrUndefined(held.document)
  return Result.flatMap(yield* readBase(context, input.base), (document) =>
    importDocument(input.yaml, document, ofDraft === undefined ? undefined : onlySecrets(ofDraft, isHeld(origins)))
  )
})

/** Returns the operations with markers: a mask is the credential that the version before has for the same field. */
const markNext = (
  operations: ReadonlyArray<ConfigOperation>,
  held: Held | undefined,
  origins: CredentialOrigins,
  namespace: string
): ReplacedOperations => {
  const known = secretsIn(held?.edits.operations ?? [])
  return replaceAll(operations, ({ entity, field, text }) => {
    if (origins.find(text) !== undefined) return Result.succeed(text)
    if (text !== mask)
      return Result.succeed(origins.mark({ place: { namespace, entity, field }, text, isEntered: true }))
    const kept = known.get(secretKey({ entity, field }))
    return kept === undefined ? Result.fail(unknownMask) : Result.succeed(kept)
  })
}

const unknownMask = {
  code: "masked_secret",
  reason: { _tag: "MaskIsNoValue" }
} as const

/** Returns the credentials that are kept from the version before although they would be sent to another destination. */
const redirectedProblems = Effect.fnUntraced(function* (
  context: EditorContext,
  held: Held,
  next: Edits,
  origins: CredentialOrigins,
  baseline: FileBaseline
): Effect.fn.Return<ReadonlyArray<PublishProblem>, SourceUnavailable> {
  const isKept = isHeld(origins)
  const isSame = held.edits.base === next.base && isDeepStrictEqual(held.edits.operations, next.operations)
  if (isSame || ![...secretsIn(next.operations).values()].some(isKept)) return []
  const after = yield* applyDraft(context, next, baseline)
  if (Result.isFailure(after)) return after.failure
  if (Result.isSuccess(held.document)) return listRedirected(held.document.success, after.success, baseline, isKept)
  return [problem("secret_destination_changed", { _tag: "DestinationUnknown" })]
})

/** Returns what is stored: credentials sealed, masks resolved against `previous`. */
export const toStored = Effect.fnUntraced(function* (
  context: EditorContext,
  input: DraftInput,
  previous: ConfigDraft | undefined
): Effect.fn.Return<Checked<Content>, SourceUnavailable> {
  const { baseline } = yield* requireLayered(context)
  const { env, namespace } = baseline
  const invalid = factProblem(input)
  if (invalid !== undefined) return Result.fail([invalid])
  const origins = makeOrigins(namespace)
  const held = previous === undefined ? undefined : yield* holdPrevious(context, previous, origins, baseline)
  const given = yield* toOperations(context, input, held, origins)
  if (Result.isFailure(given)) return Result.fail(given.failure)
  const large = sizeProblem(given.success)
  if (large !== undefined) return Result.fail([large])
  const unsafe = invalidOperations(given.success)
  if (unsafe.length > 0) return Result.fail(unsafe)
  const marked = markNext(given.success, held, origins, namespace)
  if (Result.isFailure(marked)) return Result.fail(marked.failure)
  const { base, reason, title } = input
  const next = { base, operations: marked.success }
  const redirected = held === undefined ? [] : yield* redirectedProblems(context, held, next, origins, baseline)
  if (redirected.length > 0) return Result.fail(redirected)
  const sealed = sealOperations(marked.success, origins, namespace, sealingKeys(env))
  return Result.map(sealed, (operations) => ({
    base,
    reason,
    title,
    operations,
    format: "yaml" in input ? ("yaml" as const) : ("operations" as const)
  }))
})

/** Returns the edits of a draft with the plain text of its credentials, for their publication. */
export const openDraft = Effect.fnUntraced(function* (context: EditorContext, { base, operations }: Edits) {
  const { baseline } = yield* requireLayered(context)
  const opened: Checked<ReadonlyArray<ConfigOperation>> = openOperations(
    operations,
    baseline.namespace,
    sealingKeys(baseline.env)
  )
  return Result.map(opened, (plain): Edits => ({ base, operations: plain }))
})

export const draftDocument = Effect.fnUntraced(function* (
  context: EditorContext,
  id: string
): Effect.fn.Return<DraftDocument, SourceUnavailable> {
  const { baseline } = yield* requireLayered(context)
  const draft = yield* context.drafts.get(id)
  if (draft === undefined) return { _tag: "NotFound" }
  const document = yield* applyDraft(context, draft, baseline)
  if (Result.isFailure(document)) return { _tag: "Refused", problems: document.failure }
  return {
    _tag: "Document",
    base: draft.base,
    version: draft.version,
    document: toMasked(document.success),
    yaml: exportDocument(document.success)
  }
})
