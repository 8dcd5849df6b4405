/** Converts the records of the database source to the JSON that its stores keep, and back. Pure. */
import { Result, Schema } from "effect"
import { Difference } from "../Diff.ts"
import { NodeActivation } from "./ActivationStore.ts"
import { AuditRecord } from "./AuditLog.ts"
import { ConfigDraft } from "./DraftStore.ts"
import { ResealJob } from "./ResealStore.ts"
import { ConfigOperationRecord, RevisionSummary } from "./Revision.ts"
import type { ConfigRevision, NewRevision } from "./Revision.ts"

const { createdAt: _createdAt, hash: _hash, number: _number, ...summary } = RevisionSummary.fields
const Facts = Schema.Struct({ ...summary, requestHash: Schema.String })

/** The record, or why the stored text is not one. */
export type ParsedRecord<A> = Result.Result<A, string>

const parser = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S
): ((text: string) => ParsedRecord<S["Type"]>) => {
  const decode = Schema.decodeUnknownResult(Schema.fromJsonString(schema))
  return (text) => Result.mapError(decode(text), ({ message }) => message)
}

const parseFacts = parser(Facts)
const parseDifferences = parser(Schema.Array(Difference))

export const parseOperation = parser(ConfigOperationRecord)
export const parseAudit = parser(AuditRecord)
export const parseDraft = parser(ConfigDraft)
export const parseReseal = parser(ResealJob)
export const parseActivation = parser(NodeActivation)

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
  Result.map(parseFacts(row.facts), ({ requestHash: _requestHash, ...facts }) => ({
    ...facts,
    number: row.number,
    hash: row.hash,
    createdAt: row.created_at
  }))

export const parseRevision = (row: RevisionRow): ParsedRecord<ConfigRevision> =>
  Result.flatMap(parseFacts(row.facts), ({ changes: _changes, ...facts }) =>
    Result.map(parseDifferences(row.diff), (diff) => ({
      ...facts,
      number: row.number,
      hash: row.hash,
      document: row.document,
      diff,
      createdAt: row.created_at
    }))
  )
