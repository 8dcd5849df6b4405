/**
 * Whose change it is, as an account of the host. In this order: the mapping of the commit's e-mail address; for an address on the
 * blacklist nobody; the account that the host finds for the commit; who pushed or opened the change.
 */
import { Effect } from "effect"
import type { OutputsConfig } from "../config/schema/Outputs.ts"
import type { Change } from "../domain/Change.ts"
import type { CommitAuthor, ForgeClient, ForgeError } from "../forge/Forge.ts"

type Resolution = OutputsConfig["author_resolution"]

const folded = (email: string): string => email.trim().toLowerCase()

/** The decision. Pure. */
export const accountOf = (
  { email_mappings = {}, email_blacklist = [] }: Resolution,
  author: CommitAuthor | undefined,
  pusher: string | undefined
): string | undefined => {
  const email = author?.email
  if (email !== undefined) {
    const mapped = Object.entries(email_mappings).find(([known]) => folded(known) === folded(email))
    if (mapped !== undefined) return mapped[1].replace(/^@/, "")
    if (email_blacklist.some((listed) => folded(listed) === folded(email))) return undefined
  }
  return author?.account ?? pusher
}

/**
 * Asks the host about the head's author. A host that will not say leaves who pushed or opened the change; one that cannot say now
 * is asked again with the whole operation.
 */
export const resolveAuthor = (
  client: ForgeClient,
  change: Change,
  head: string,
  resolution: Resolution
): Effect.Effect<string | undefined, ForgeError> =>
  client.commitAuthor(change.repo, head).pipe(
    Effect.map((author) => accountOf(resolution, author, change.author?.username)),
    Effect.catchIf(
      ({ reason }) => reason !== "rate_limited" && reason !== "unavailable",
      (error) =>
        Effect.as(
          Effect.logInfo(`The author of ${head} is not known from the host: ${error.message}`),
          accountOf(resolution, undefined, change.author?.username)
        )
    )
  )
