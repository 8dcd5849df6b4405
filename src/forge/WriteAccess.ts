/** Whether an account may write to a repository, as GitHub, Gitea and Forgejo say it with the repository. */
import { Schema } from "effect"

export const Permissions = Schema.optional(Schema.NullOr(Schema.Struct({ push: Schema.optional(Schema.Boolean) })))

/** In words for people; empty where the host does not say. */
export const missingWriteAccess = (permissions: { readonly push?: boolean | undefined } | null | undefined) =>
  permissions === undefined || permissions === null || permissions.push === true
    ? []
    : ["the account may not write to the repository; commit status and labels need write access"]
