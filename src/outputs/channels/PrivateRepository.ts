/** Refuses to write findings that only maintainers get to a repository that others may read. */
import { Effect } from "effect"
import type { Operation } from "../../domain/Publication.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import type { ChannelContext } from "./Channel.ts"

interface Host extends Pick<ChannelContext, "change"> {
  readonly channel: Pick<ChannelContext["channel"], "name">
  readonly client: Effect.Effect<
    Pick<Effect.Success<ChannelContext["client"]>, "conversations">,
    Effect.Error<ChannelContext["client"]>
  >
}

/** Returns whether an operation writes to a repository. Messages to chats need no check. */
export const writesIssues = ({ _tag }: Operation): boolean => _tag === "Issues" || _tag === "Issue"

/** Fails unless only people with access may read the repository, by its host. */
export const checkPrivateRepository = Effect.fnUntraced(function* ({ channel, change, client }: Host) {
  const { conversations } = yield* client
  if ((yield* conversations.isPrivate(change.repo)) === true) return
  const why = { _tag: "RepositoryNotPrivate", channel: channel.name, repository: change.repo.fullName } as const
  return yield* new ForgeError({ reason: "invalid", operation: "repository", why })
})
