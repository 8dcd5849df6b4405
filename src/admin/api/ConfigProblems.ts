/** Defines the error responses of the configuration: what an edit collides with, and why it is refused. */
import { Schema } from "effect"
import { HttpApiError } from "effect/http-api"
import { Reason } from "../../domain/Reason.ts"
import { count, text } from "./Fields.ts"

/** A reason, with the entity and the field that it is about. */
export const ConfigIssueRecord = Schema.Struct({
  code: text("Stable name of the reason, such as owned_by_file or secrets_key_missing"),
  entity: text("Entity, such as `triggers/main`, or `globals`; empty: the whole configuration"),
  path: text("Field in the entity; empty: the whole entity"),
  message: text("What is wrong, and what to do, in English"),
  reason: Reason
}).annotate({ identifier: "ConfigProblem", description: "A reason why an edit is refused" })

export const ConflictRecord = Schema.Struct({
  entity: text("Entity, such as `triggers/main`, or `globals`"),
  path: text("Field in the entity; empty: the whole entity"),
  base: Schema.Unknown.annotate({ description: "Value in the base revision; null: none" }),
  head: Schema.Unknown.annotate({ description: "Value in the newest revision; null: none" }),
  yours: Schema.Unknown.annotate({ description: "Value after the edit; null: none" })
}).annotate({ identifier: "ConfigConflict", description: "A field that others changed since the base; masked" })

/** Fields of every problem in addition to those of RFC 9457. */
const common = { reason: Reason }

const issues = Schema.Array(ConfigIssueRecord).annotate({ description: "Every reason" })

export class ConfigConflict extends HttpApiError.Problem<ConfigConflict>()(
  "ConfigConflict",
  { type: "about:blank", status: 409, title: "Conflict" },
  {
    ...common,
    code: Schema.Literals(["draft_conflict", "operation_id_reused", "revision_conflict"]).annotate({
      description: "Stable name of the error, for programs"
    }),
    head: Schema.optionalKey(count("Number of the newest revision")),
    conflicts: Schema.optionalKey(Schema.Array(ConflictRecord).annotate({ description: "Fields that others changed" })),
    version: Schema.optionalKey(count("Current version of the draft; absent if it was removed"))
  }
) {}

export class ConfigForbidden extends HttpApiError.Problem<ConfigForbidden>()(
  "ConfigForbidden",
  { type: "about:blank", status: 403, title: "Forbidden" },
  {
    ...common,
    code: Schema.Literals(["approval_required", "own_draft", "role_needed"]).annotate({
      description: "Stable name of the error, for programs"
    }),
    issues
  }
) {}

export class ConfigNotFound extends HttpApiError.Problem<ConfigNotFound>()(
  "ConfigNotFound",
  { type: "about:blank", status: 404, title: "Not Found" },
  {
    ...common,
    code: Schema.Literals([
      "database_source_disabled",
      "draft_not_found",
      "operation_not_found",
      "option_source_not_found",
      "revision_not_found",
      "workspace_not_found"
    ]).annotate({ description: "Stable name of the error, for programs" })
  }
) {}

export class ConfigRefused extends HttpApiError.Problem<ConfigRefused>()(
  "ConfigRefused",
  { type: "about:blank", status: 422, title: "Unprocessable Content" },
  { ...common, code: text("Code of the first reason"), issues }
) {}

export const ConfigErrors = [ConfigConflict, ConfigForbidden, ConfigNotFound, ConfigRefused] as const
