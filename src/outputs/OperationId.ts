/**
 * The name of an operation: the same thing planned twice has the same name, so the outbox keeps one row of it. A review that a person
 * asked for again on the same head, or that has another base now, is another operation than the first one. Pure.
 */
import { createHash } from "node:crypto"
import type { Operation } from "../domain/Publication.ts"
import type { PublishInput } from "./Channel.ts"

type Named = Pick<PublishInput, "targetKey" | "head" | "change" | "runId" | "isRepeated">

/** 32 hex digits. */
export const digest = (...parts: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)

export const operationId = (input: Named, channel: string, kind: Operation["_tag"], part: number): string => {
  const round = input.change.requestedBy === undefined && input.isRepeated !== true ? "" : input.runId
  return digest(input.targetKey, input.head, channel, kind, String(part), round)
}

/** A status belongs to its run: every run of a head says for itself how it goes. */
export const statusId = (input: Pick<PublishInput, "targetKey" | "head" | "runId">, state: string): string =>
  digest(input.targetKey, input.head, "Status", state, input.runId)

/** A label is put on once per run. */
export const labelId = (input: Pick<PublishInput, "targetKey" | "head" | "runId">, name: string): string =>
  digest(input.targetKey, input.head, "Label", name, input.runId)
