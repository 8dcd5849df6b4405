/**
 * The edits of a changeset. Drafts and changesets keep edits, never whole documents, so that an edit of an older revision changes only what
 * it names.
 */
import { Schema } from "effect"
import { entityKinds, maxNameLength } from "./Entities.ts"
import type { Reason } from "../../domain/Reason.ts"

const Name = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(maxNameLength))
const Ref = Schema.Struct({ kind: Schema.Literals(entityKinds), name: Name })

/** Field of an entity or of the globals, part by part; names, ids and aliases stand for positions in lists. */
const FieldPath = Schema.Array(Name).check(Schema.isMinLength(1), Schema.isMaxLength(64))

export const ConfigOperation = Schema.Union([
  Schema.Struct({ op: Schema.Literal("create"), entity: Ref, value: Schema.Unknown }),
  /** Replaces the value. A credential that is omitted keeps its stored value; null clears it. */
  Schema.Struct({ op: Schema.Literal("update"), entity: Ref, value: Schema.Unknown }),
  Schema.Struct({ op: Schema.Literal("delete"), entity: Ref }),
  /** Renames an entity, and every reference to it in the database's document. */
  Schema.Struct({ op: Schema.Literal("rename"), entity: Ref, to: Name }),
  Schema.Struct({ op: Schema.Literal("set_enabled"), entity: Ref, enabled: Schema.Boolean }),
  /** Sets one field. Without `entity` it is a field of the globals. */
  Schema.Struct({
    op: Schema.Literal("set"),
    entity: Schema.optionalKey(Ref),
    path: FieldPath,
    value: Schema.Unknown
  }),
  Schema.Struct({ op: Schema.Literal("unset"), entity: Schema.optionalKey(Ref), path: FieldPath })
])
export type ConfigOperation = typeof ConfigOperation.Type

export const maxOperations = 200
export const Operations = Schema.Array(ConfigOperation).check(Schema.isMinLength(1), Schema.isMaxLength(maxOperations))

export type EditErrorCode =
  | "entity_exists"
  | "entity_not_found"
  | "invalid_field"
  | "masked_secret"
  | "owned_by_file"
  | "secret_sealing_invalid"
  | "secrets_key_missing"

/** Reason why an operation cannot be applied. `index`: its position in the changeset. */
export interface OperationProblem {
  readonly code: EditErrorCode
  readonly index: number
  /** Entity such as `triggers/main`, or `globals`. */
  readonly entity: string
  /** Field in the entity; empty for the whole entity. */
  readonly path: string
  readonly reason: Reason
}
