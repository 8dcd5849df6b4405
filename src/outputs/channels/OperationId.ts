/**
 * Ids of operations: planning the same operation twice yields the same id, so the outbox stores it once. A review that a person
 * requested again for the same head, or that has another base, gets other ids. Pure.
 */
import { createHash } from "node:crypto"
import { OperationId } from "../../domain/Keys.ts"
import type { TargetKey } from "../../domain/Keys.ts"
import type { Operation } from "../../domain/Publication.ts"
import type { PublishInput } from "./Channel.ts"

type Named = Pick<PublishInput, "targetKey" | "head" | "change" | "runId" | "isRepeated" | "ruling">

/** 32 hex digits. */
export const digest = (...parts: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)

const named = (...parts: ReadonlyArray<string>): OperationId => OperationId.make(digest(...parts))

export const operationId = (input: Named, channel: string, kind: Operation["_tag"], part: number): OperationId => {
  const round = input.change.requestedBy === undefined && input.isRepeated !== true ? "" : input.runId
  return named(input.targetKey, input.head, channel, kind, String(part), round, ...rulingOf(input))
}

/** Returns the part of an id that distinguishes what is published again after a ruling about a finding. */
const rulingOf = ({ ruling }: Pick<PublishInput, "ruling">): ReadonlyArray<string> =>
  ruling === undefined ? [] : [ruling]

/** The id of a status contains its run, because every run of a head reports its own progress. */
export const statusId = (
  input: Pick<PublishInput, "targetKey" | "head" | "runId" | "ruling">,
  state: string
): OperationId => named(input.targetKey, input.head, "Status", state, input.runId, ...rulingOf(input))

/** A verdict has one statement: that of a run, and one for each later decision about a finding. */
export const statementId = (input: Pick<PublishInput, "targetKey" | "head" | "runId" | "ruling">): OperationId =>
  named(input.targetKey, input.head, "Statement", input.runId, ...rulingOf(input))

/** A label is added once per run. */
export const labelId = (input: Pick<PublishInput, "targetKey" | "head" | "runId">, name: string): OperationId =>
  named(input.targetKey, input.head, "Label", name, input.runId)

/** Triage executes each kind of operation once per text of an issue, whose digest is the head. */
export const triageId = (targetKey: TargetKey, head: string, kind: Operation["_tag"]): OperationId =>
  named(targetKey, head, "triage", kind)

/** A comment gets one reply and each reaction once, whatever its runs. */
export const replyOperationId = (targetKey: TargetKey, part: string): OperationId => named(targetKey, "reply", part)

/** A finding is withdrawn once per head. */
export const withdrawalId = (target: TargetKey, head: string, fp: string): OperationId =>
  named(target, head, "withdraw", fp)

/** A note that a thread gets once: `target` is the change or issue of the thread. */
export const threadNoteId = (target: TargetKey, thread: string, note: string): OperationId =>
  named(target, "thread", thread, note)

/** The comment that describes a change whose description has no place for it. */
export const describeId = (target: TargetKey): OperationId => named(target, "describe")

/** The expiry of an entry is reported once per channel. */
export const expiryId = (entryId: string, channel: string): OperationId => named("expired", entryId, channel)

/** The state of a finding is written to one place of the host. */
export const rulingId = (fp: string, hostId: string): OperationId => named("ruled", fp, hostId)

/** Id of an operation that results from sending another one. */
export const followUpId = (operation: OperationId, part: string): OperationId => named(operation, part)
