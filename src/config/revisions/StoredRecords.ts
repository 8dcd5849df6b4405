/** Converts the records of the database source to the JSON that its stores keep, and back. Pure. */
import { Result, Schema } from "effect"
import type { NodeActivation } from "./ActivationStore.ts"
import type { AuditRecord } from "./AuditLog.ts"
import { auditActions } from "./AuditLog.ts"
import type { ConfigDraft } from "./DraftStore.ts"
import { ConfigOperation } from "./Operations.ts"
import type { ResealJob } from "./ResealStore.ts"
import type { ConfigOperationRecord, ConfigRevision, NewRevision, RevisionSummary } from "./Revision.ts"
import { Reason } from "../../domain/Reason.ts"

const Names = Schema.Array(Schema.String)
const Text = Schema.String
const OptionalText = Schema.optional(Schema.String)
const OptionalInt = Schema.optional(Schema.Int)
const OptionalValue = Schema.optional(Schema.Unknown)

const Facts = Schema.Struct({
  parent: Schema.Int,
  actor: Text,
  operationId: Text,
  requestHash: Text,
  reason: Text,
  rebasedFrom: OptionalInt,
  restores: OptionalInt,
  changes: Schema.Int
})

const Differences = Schema.Array(
  Schema.Struct({
    path: Text,
    names: Names,
    change: Schema.Literals(["added", "removed", "changed"]),
    before: OptionalValue,
    after: OptionalValue
  })
)

const Operation = Schema.Struct({
  operationId: Text,
  requestHash: Text,
  createdAt: Schema.Int,
  result: Schema.Union([
    Schema.Struct({ _tag: Schema.Literal("Committed"), revision: Schema.Int, rebasedFrom: OptionalInt }),
    Schema.Struct({ _tag: Schema.Literal("Unchanged"), revision: Schema.Int }),
    Schema.Struct({
      _tag: Schema.Literal("Conflict"),
      head: Schema.Int,
      conflicts: Schema.Array(
        Schema.Struct({ path: Names, base: OptionalValue, head: OptionalValue, yours: OptionalValue })
      )
    }),
    Schema.Struct({
      _tag: Schema.Literal("Resealed"),
      state: Schema.Literals(["running", "done", "failed"]),
      checked: Schema.Int,
      resealed: Schema.Int,
      failed: Schema.Array(Reason)
    })
  ])
})

const Draft = Schema.Struct({
  id: Text,
  owner: Text,
  title: Text,
  reason: Text,
  base: Schema.Int,
  operations: Schema.Array(ConfigOperation),
  editors: Schema.Array(Text),
  format: Schema.Literals(["operations", "yaml"]),
  approvals: Schema.Array(Schema.Struct({ actor: Text, at: Schema.Int })),
  version: Schema.Int,
  createdAt: Schema.Int,
  updatedAt: Schema.Int
})

const Audit = Schema.Struct({
  id: Text,
  at: Schema.Int,
  actor: Text,
  action: Schema.Literals(auditActions),
  outcome: Text,
  operationId: OptionalText,
  revision: OptionalInt,
  draft: OptionalText,
  detail: Schema.optional(Reason)
})

const Activation = Schema.Struct({
  node: Text,
  revision: Schema.Int,
  state: Schema.Literals(["active", "refused"]),
  active: Schema.Int,
  snapshot: Text,
  problems: Schema.Array(Reason),
  at: Schema.Int
})

const Reseal = Schema.Struct({
  id: Text,
  kid: Text,
  actor: Text,
  owner: Text,
  state: Schema.Literals(["running", "done", "failed"]),
  checked: Schema.Int,
  resealed: Schema.Int,
  failed: Schema.Array(Reason),
  newest: Schema.Int,
  below: Schema.Int,
  covered: Schema.Int,
  startedAt: Schema.Int,
  updatedAt: Schema.Int,
  finishedAt: OptionalInt,
  version: Schema.Int
})

/** The record, or why the stored text is not one. */
export type ParsedRecord<A> = Result.Result<A, string>

const parser = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S
): ((text: string) => ParsedRecord<S["Type"]>) => {
  const decode = Schema.decodeUnknownResult(Schema.fromJsonString(schema))
  return (text) => Result.mapError(decode(text), ({ message }) => message)
}

const parseFacts = parser(Facts)
const parseDifferences = parser(Differences)
const parseOperationText = parser(Operation)
const parseAuditText = parser(Audit)

const parseDraftText = parser(Draft)

export const parseDraft = (text: string): ParsedRecord<ConfigDraft> => {
  const parsed = parseDraftText(text)
  return Result.isFailure(parsed)
    ? Result.fail(parsed.failure)
    : Result.succeed({
        ...parsed.success,
        editors: parsed.success.editors ?? [],
        format: parsed.success.format ?? "operations"
      })
}
const parseResealText = parser(Reseal)

export const parseReseal = (text: string): ParsedRecord<ResealJob> =>
  Result.map(parseResealText(text), ({ finishedAt, ...job }) => ({ ...job, finishedAt }))

export const parseActivation: (text: string) => ParsedRecord<NodeActivation> = parser(Activation)

export const parseOperation = (text: string): ParsedRecord<ConfigOperationRecord> =>
  Result.map(parseOperationText(text), ({ result, ...record }) => ({
    ...record,
    result:
      result._tag === "Conflict"
        ? {
            ...result,
            conflicts: result.conflicts.map(({ path, base, head, yours }) => ({ path, base, head, yours }))
          }
        : result
  }))

export const parseAudit = (text: string): ParsedRecord<AuditRecord> =>
  Result.map(parseAuditText(text), ({ detail, draft, operationId, revision, ...record }) => ({
    ...record,
    detail,
    draft,
    operationId,
    revision
  }))

/** A revision as columns of a row, or fields of a hash. */
export interface RevisionRow {
  readonly number: number
  readonly hash: string
  readonly document: string
  readonly facts: string
  readonly diff: string
  readonly created_at: number
}

export const toRow = (revision: NewRevision, createdAt: number): RevisionRow => {
  const { number, hash, document, diff, ...facts } = revision
  return {
    number,
    hash,
    document,
    facts: JSON.stringify({ ...facts, changes: diff.length }),
    diff: JSON.stringify(diff),
    created_at: createdAt
  }
}

export const parseSummary = (
  row: Pick<RevisionRow, "created_at" | "facts" | "hash" | "number">
): ParsedRecord<RevisionSummary> =>
  Result.map(parseFacts(row.facts), (stored) => {
    const { rebasedFrom, requestHash: _, restores, ...facts } = stored
    return { ...facts, rebasedFrom, restores, number: row.number, hash: row.hash, createdAt: row.created_at }
  })

export const parseRevision = (row: RevisionRow): ParsedRecord<ConfigRevision> =>
  Result.flatMap(parseFacts(row.facts), (stored) => {
    const { changes: _, rebasedFrom, restores, ...facts } = stored
    return Result.map(parseDifferences(row.diff), (diff) => ({
      ...facts,
      rebasedFrom,
      restores,
      number: row.number,
      hash: row.hash,
      document: row.document,
      diff: diff.map(({ path, names, change, before, after }) => ({ path, names, change, before, after })),
      createdAt: row.created_at
    }))
  })
