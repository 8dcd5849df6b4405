/** A file as the contents API of Gitea, Forgejo, GitHub and GitLab returns it. */
import { Effect, Schema } from "effect"
import type { ForgeError } from "../ForgeError.ts"

export const RepoFile = Schema.Struct({
  content: Schema.optional(Schema.NullOr(Schema.String)),
  encoding: Schema.optional(Schema.NullOr(Schema.String))
})

/** Returns the text of a file; undefined if it does not exist, is a folder or a link, or is too large for the API. */
export const decodeFile = (
  response: Effect.Effect<typeof RepoFile.Type, ForgeError>
): Effect.Effect<string | undefined, ForgeError> =>
  response.pipe(
    Effect.map(({ content, encoding }) =>
      typeof content === "string" && encoding === "base64" ? Buffer.from(content, "base64").toString("utf8") : undefined
    ),
    Effect.catchIf(
      (error) => error.reason === "not_found",
      () => Effect.succeed(undefined)
    )
  )

/** Returns a path template with one parameter per segment: these hosts expect unencoded slashes in a path. */
export const segments = (path: string): { readonly template: string; readonly params: Record<string, string> } => {
  const parts = path.split("/").filter((part) => part !== "" && part !== "." && part !== "..")
  return {
    template: parts.map((_, i) => `{segment${i}}`).join("/"),
    params: Object.fromEntries(parts.map((part, i) => [`segment${i}`, part]))
  }
}
