/** A file as the contents API of Gitea, Forgejo, GitHub and GitLab answers it. */
import { Effect, Schema } from "effect"
import type { ForgeError } from "./Forge.ts"

export const RepoFile = Schema.Struct({
  content: Schema.optional(Schema.NullOr(Schema.String)),
  encoding: Schema.optional(Schema.NullOr(Schema.String))
})

/** Its text; undefined when there is none, or when it is a folder, a link or too large for the host to show. */
export const textOfFile = (
  answer: Effect.Effect<typeof RepoFile.Type, ForgeError>
): Effect.Effect<string | undefined, ForgeError> =>
  answer.pipe(
    Effect.map(({ content, encoding }) =>
      typeof content === "string" && encoding === "base64" ? Buffer.from(content, "base64").toString("utf8") : undefined
    ),
    Effect.catchIf(
      (error) => error.reason === "not_found",
      () => Effect.succeed(undefined)
    )
  )

/** A path template with one parameter per segment: these hosts want the slashes of a path as they are. */
export const segments = (path: string): { readonly template: string; readonly params: Record<string, string> } => {
  const parts = path.split("/").filter((part) => part !== "" && part !== "." && part !== "..")
  return {
    template: parts.map((_, i) => `{segment${i}}`).join("/"),
    params: Object.fromEntries(parts.map((part, i) => [`segment${i}`, part]))
  }
}
